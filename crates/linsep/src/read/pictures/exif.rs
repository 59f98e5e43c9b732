//! How a camera was held, from the EXIF data of a picture.

/// The orientation, 1 to 8; 1, upright, where the data does not tell.
pub(super) fn orientation(data: &[u8]) -> u8 {
    find(data.strip_prefix(b"Exif\0\0").unwrap_or(data)).unwrap_or(1)
}

/// The EXIF data of a PNG picture: of its chunk `eXIf`, which may also come after the pixels.
pub(super) fn png_data(picture: &[u8]) -> Option<&[u8]> {
    const SIGNATURE: usize = 8;
    let mut rest = picture.get(SIGNATURE..)?;
    // Each chunk has its length, its name, its data and a checksum.
    while let Some((head, after)) = rest.split_at_checked(8) {
        let length = u32::from_be_bytes(head[..4].try_into().ok()?) as usize;
        match &head[4..] {
            b"eXIf" => return after.get(..length),
            b"IEND" => return None,
            _ => rest = after.get(length.checked_add(4)?..)?,
        }
    }
    None
}

/// The value of the tag in the first directory. Every place is checked before it is read.
fn find(data: &[u8]) -> Option<u8> {
    const ORIENTATION: u16 = 0x0112;
    const SHORT: u16 = 3;
    let big = match data.get(..4)? {
        b"II\x2a\0" => false,
        b"MM\0\x2a" => true,
        _ => return None,
    };
    let short = |at: usize| {
        let two = data.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(if big { u16::from_be_bytes(two) } else { u16::from_le_bytes(two) })
    };
    let four = data.get(4..8)?.try_into().ok()?;
    let directory = if big { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) } as usize;
    for entry in 0..usize::from(short(directory)?) {
        let at = directory + 2 + 12 * entry;
        if short(at)? == ORIENTATION && short(at + 2)? == SHORT {
            return u8::try_from(short(at + 8)?).ok().filter(|value| (1..=8).contains(value));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// EXIF data with one tag before the orientation.
    pub(in crate::read::pictures) fn data(value: u16, big: bool) -> Vec<u8> {
        let two = |number: u16| if big { number.to_be_bytes() } else { number.to_le_bytes() };
        let four = |number: u32| if big { number.to_be_bytes() } else { number.to_le_bytes() };
        let mut data = b"Exif\0\0".to_vec();
        data.extend(if big { b"MM\0\x2a" } else { b"II\x2a\0" });
        data.extend(four(8));
        data.extend(two(2));
        for (tag, value) in [(0x0100, 77), (0x0112, value)] {
            data.extend(two(tag));
            data.extend(two(3));
            data.extend(four(1));
            data.extend(two(value));
            data.extend([0, 0]);
        }
        data
    }

    #[test]
    fn the_tag_is_found_in_either_order_of_bytes() {
        for big in [false, true] {
            for value in 1..=8 {
                assert_eq!(orientation(&data(value, big)), value as u8);
            }
            assert_eq!(orientation(&data(9, big)), 1);
        }
        assert_eq!(orientation(b"Exif\0\0II\x2a\0\xff\xff\xff\xff"), 1);
    }

    #[test]
    fn the_chunk_of_a_png_picture_is_found_wherever_it_is() {
        let chunk =
            |name: &[u8], data: &[u8]| [&(data.len() as u32).to_be_bytes(), name, data, &[0; 4]].concat();
        let exif = data(6, true);
        let (head, pixels, end) = (chunk(b"IHDR", &[0; 13]), chunk(b"IDAT", &[1; 40]), chunk(b"IEND", b""));
        let own = chunk(b"eXIf", &exif[6..]);
        for parts in [[&head, &own, &pixels, &end], [&head, &pixels, &own, &end]] {
            let picture = [b"\x89PNG\r\n\x1a\n".as_slice(), &parts.map(Vec::as_slice).concat()].concat();
            assert_eq!(png_data(&picture).map(orientation), Some(6));
            for cut in 0..picture.len() {
                let _ = png_data(&picture[..cut]);
            }
        }
        let without = [b"\x89PNG\r\n\x1a\n".as_slice(), &head, &pixels, &end, &own].concat();
        assert_eq!(png_data(&without), None);
    }

    proptest! {
        #[test]
        fn any_bytes_tell_something(mut bytes in prop::collection::vec(any::<u8>(), 0..64), at in 0usize..40, value in any::<u8>()) {
            prop_assert!((1..=8).contains(&orientation(&bytes)));
            bytes = data(6, true);
            let at = at % bytes.len();
            bytes[at] = value;
            prop_assert!((1..=8).contains(&orientation(&bytes)));
        }
    }
}
