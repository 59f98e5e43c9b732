use super::*;
use proptest::prelude::*;

const COLOUR: &[u8] = include_bytes!("samples/colour.jpg");
const GREY: &[u8] = include_bytes!("samples/grey.jpg");
const PROGRESSIVE: &[u8] = include_bytes!("samples/progressive.jpg");
const TURNED: &[u8] = include_bytes!("samples/turned.jpg");
const CMYK: &[u8] = include_bytes!("samples/cmyk.jpg");

fn form(width: u32, height: u32, colour: bool) -> PictureForm {
    PictureForm { width, height, colour }
}

/// A PNG picture of these levels.
fn png(width: u32, height: u32, kind: png::ColorType, levels: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(kind);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header().unwrap().write_image_data(levels).unwrap();
    bytes
}

/// What the samples show: white, red below it, blue to the right.
fn looks_right(levels: &[u8], tolerance: i32) {
    for (x, y, rgb) in [(1, 1, [250, 250, 245]), (2, 6, [200, 40, 30]), (13, 3, [30, 60, 190])] {
        for (channel, &expected) in rgb.iter().enumerate() {
            let found = i32::from(levels[(y * 16 + x) * 3 + channel]);
            assert!((found - expected).abs() <= tolerance, "{x},{y}: {found} for {expected}");
        }
    }
}

#[test]
fn jpeg_pictures_are_decoded_and_turned() {
    for (bytes, tolerance) in [(COLOUR, 6), (PROGRESSIVE, 6), (TURNED, 6), (CMYK, 12)] {
        assert_eq!(size(bytes).unwrap(), (16, 8));
        looks_right(&decode(bytes, form(16, 8, true)).unwrap(), tolerance);
    }
    assert_eq!(decode(COLOUR, form(16, 8, true)), decode(PROGRESSIVE, form(16, 8, true)));
    for bytes in [COLOUR, GREY, PROGRESSIVE, TURNED, CMYK] {
        let levels = decode(bytes, form(16, 8, false)).unwrap();
        for (x, y, expected) in [(1, 1, 249), (2, 6, 87), (13, 3, 66)] {
            let found = i32::from(levels[y * 16 + x]);
            assert!((found - expected).abs() <= 12, "{x},{y}: {found} for {expected}");
        }
    }
}

#[test]
fn png_pictures_of_every_kind() {
    let rgb = [255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255];
    let bytes = png(2, 2, png::ColorType::Rgb, &rgb);
    assert_eq!(decode(&bytes, form(2, 2, true)).unwrap(), rgb);
    assert_eq!(decode(&bytes, form(2, 2, false)).unwrap(), [76, 150, 29, 255]);
    assert_eq!(decode(&bytes, form(1, 1, false)).unwrap(), [128]);
    let grey = png(2, 1, png::ColorType::Grayscale, &[7, 200]);
    assert_eq!(decode(&grey, form(2, 1, false)).unwrap(), [7, 200]);
    assert_eq!(decode(&grey, form(2, 1, true)).unwrap(), [7, 7, 7, 200, 200, 200]);
    // What is transparent is seen on white.
    let clear = png(2, 1, png::ColorType::GrayscaleAlpha, &[0, 0, 0, 255]);
    assert_eq!(decode(&clear, form(2, 1, false)).unwrap(), [255, 0]);
    let clear = png(1, 1, png::ColorType::Rgba, &[10, 20, 30, 0]);
    assert_eq!(decode(&clear, form(1, 1, true)).unwrap(), [255, 255, 255]);
}

#[test]
fn bombs_and_broken_pictures_are_refused() {
    // A header that claims 60,000 × 60,000 pixels.
    let mut bomb = png(1, 1, png::ColorType::Grayscale, &[0]);
    bomb[16..24].copy_from_slice(&[0, 0, 0xea, 0x60, 0, 0, 0xea, 0x60]);
    let mut checksum = flate2::Crc::new();
    checksum.update(&bomb[12..29]);
    bomb[29..33].copy_from_slice(&checksum.sum().to_be_bytes());
    let error = decode(&bomb, form(4, 4, false)).unwrap_err();
    assert_eq!(error, "the picture has 60000x60000 pixels, and at most 67,108,864 are accepted");
    assert_eq!(size(&bomb).unwrap_err(), error);
    // The same of a JPEG picture: its height and width stand after the marker of the frame.
    let frame = COLOUR.windows(2).position(|two| two == [0xff, 0xc0]).unwrap();
    let mut bomb = COLOUR.to_vec();
    bomb[frame + 5..frame + 9].copy_from_slice(&[0xff, 0xff, 0xff, 0xff]);
    assert!(decode(&bomb, form(4, 4, false)).unwrap_err().contains("65535x65535 pixels"));
    for bytes in [&b""[..], b"GIF89a", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"] {
        assert!(decode(bytes, form(4, 4, false)).is_err());
    }
    let whole = png(40, 40, png::ColorType::Grayscale, &[9; 1600]);
    for end in 0..whole.len() - 12 {
        assert!(decode(&whole[..end], form(4, 4, false)).is_err(), "cut at {end}");
    }
    for end in (0..COLOUR.len() * 3 / 4).step_by(7) {
        assert!(decode(&COLOUR[..end], form(4, 4, true)).is_err(), "cut at {end}");
    }
}

/// A palette has 256 colours at most; a decoder that believed a longer one wrote past the end of a table.
#[test]
fn a_palette_that_is_too_long_is_damage() {
    use std::io::Write;
    let chunk = |kind: &[u8], content: &[u8]| {
        let named = [kind, content].concat();
        let mut checksum = flate2::Crc::new();
        checksum.update(&named);
        [&(content.len() as u32).to_be_bytes()[..], &named, &checksum.sum().to_be_bytes()].concat()
    };
    let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(&[0, 1]).unwrap();
    let pixel = packed.finish().unwrap();
    let of_palette = |colours: usize| {
        [
            b"\x89PNG\r\n\x1a\n".to_vec(),
            chunk(b"IHDR", &[0, 0, 0, 1, 0, 0, 0, 1, 8, 3, 0, 0, 0]),
            chunk(b"PLTE", &vec![90; colours * 3]),
            chunk(b"IDAT", &pixel),
            chunk(b"IEND", &[]),
        ]
        .concat()
    };
    assert_eq!(decode(&of_palette(256), form(1, 1, false)).unwrap(), [90]);
    for colours in [257, 300, 5000] {
        for error in [
            decode(&of_palette(colours), form(1, 1, false)).unwrap_err(),
            size(&of_palette(colours)).unwrap_err(),
        ] {
            assert!(error.starts_with("the PNG picture is damaged"), "{error}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Damaged bytes give an error or as many numbers as were asked for.
    #[test]
    fn damage_is_survived(which in 0usize..5, at in any::<prop::sample::Index>(), value in any::<u8>(), colour in any::<bool>()) {
        let mut bytes = [COLOUR, PROGRESSIVE, TURNED, CMYK, &png(3, 3, png::ColorType::Rgba, &[100; 36])][which].to_vec();
        let at = at.index(bytes.len());
        bytes[at] = value;
        let _ = size(&bytes);
        let levels = decode(&bytes, form(5, 3, colour));
        prop_assume!(levels.is_ok());
        prop_assert_eq!(levels.unwrap().len(), form(5, 3, colour).features());
    }
}
