#![no_main]

use linsep::features::PictureForm;
use linsep::read::decode_picture;

// The first byte chooses the size and whether colours are wanted.
libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((&choice, bytes)) = data.split_first() else { return };
    let form = PictureForm {
        width: u32::from(choice & 15) + 1,
        height: u32::from(choice >> 4 & 7) + 1,
        colour: choice >> 7 == 1,
    };
    if let Ok(levels) = decode_picture(bytes, form) {
        assert_eq!(levels.len(), form.features());
    }
});
