//! Pictures: PNG and JPEG, brought to one size, one feature for each pixel (three in colour) with its level, 0 to 255.
//!
//! Pictures are decoded some at a time, by all threads, and given out in the order of their files.

mod decode;
mod exif;
mod resize;

pub use decode::decode as decode_picture;
