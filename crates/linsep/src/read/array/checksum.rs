//! CRC-32, the checksum of the members of an archive.

#[cfg(feature = "compression")]
pub(crate) use flate2::Crc;
#[cfg(not(feature = "compression"))]
pub(crate) use plain::Crc;

/// A byte at a time, where no library for compression is compiled.
#[cfg(any(test, not(feature = "compression")))]
mod plain {
    /// The remainder of each byte, by the polynomial of the format in reversed order.
    const REMAINDERS: [u32; 256] = {
        let mut table = [0; 256];
        let mut byte = 0;
        while byte < 256 {
            let (mut rest, mut bit) = (byte as u32, 0);
            while bit < 8 {
                rest = (rest >> 1) ^ (0xedb8_8320 * (rest & 1));
                bit += 1;
            }
            table[byte] = rest;
            byte += 1;
        }
        table
    };

    #[derive(Debug)]
    pub(crate) struct Crc(u32);

    impl Default for Crc {
        fn default() -> Self {
            Self(u32::MAX)
        }
    }

    impl Crc {
        pub(crate) fn new() -> Self {
            Self::default()
        }

        pub(crate) fn update(&mut self, bytes: &[u8]) {
            for byte in bytes {
                self.0 = REMAINDERS[usize::from(self.0 as u8 ^ byte)] ^ (self.0 >> 8);
            }
        }

        pub(crate) fn sum(&self) -> u32 {
            !self.0
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn both_checksums_agree(parts in proptest::collection::vec(any::<Vec<u8>>(), 0..4)) {
            let (mut fast, mut plain) = (super::Crc::new(), super::plain::Crc::new());
            for part in &parts {
                fast.update(part);
                plain.update(part);
            }
            prop_assert_eq!(fast.sum(), plain.sum());
        }
    }

    #[test]
    fn the_checksum_of_the_standard_text() {
        let mut plain = super::plain::Crc::new();
        plain.update(b"123456789");
        assert_eq!(plain.sum(), 0xcbf4_3926);
    }
}
