//! How a camera was held, from the EXIF data of a picture.

/// The orientation, 1 to 8; 1, upright, where the data does not tell.
pub(super) fn orientation(data: &[u8]) -> u8 {
    find(data.strip_prefix(b"Exif\0\0").unwrap_or(data)).unwrap_or(1)
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
