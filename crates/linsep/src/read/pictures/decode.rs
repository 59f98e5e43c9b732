//! One picture to the numbers of a row: decoded, turned as its EXIF data says, made grey if asked for, and brought to the size.
//!
//! The decoders are `png` and `zune-jpeg`. What is left is short, and written here so that no library of colours and formats is
//! compiled for it.

use super::super::guarded::guarded;
use super::exif;
use super::resize::{Plane, resized};
use crate::features::PictureForm;
use crate::numbers::grouped;
use std::fmt;
use std::io::Cursor;
use zune_core::colorspace::ColorSpace;
use zune_core::options::DecoderOptions;
use zune_jpeg::JpegDecoder;

/// The most pixels of a picture. A file of a few kilobytes can claim any number, and would be given memory for them.
const MAX_PIXELS: u64 = 1 << 26;
/// The longest side.
const LONGEST_SIDE: usize = 1 << 16;
/// Progressive pictures come in scans, each of which is as much work as a picture.
const MAX_SCANS: usize = 100;

/// What a file is, by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PictureKind {
    Png,
    Jpeg,
}

impl PictureKind {
    pub(crate) fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(PictureKind::Png),
            [0xff, 0xd8, 0xff, ..] => Some(PictureKind::Jpeg),
            _ => None,
        }
    }
}

/// The pixels of a picture, channel by channel: one of grey, or red, green and blue.
struct Pixels {
    planes: Vec<Plane>,
    /// How it was held, by EXIF: 1 to 8.
    orientation: u8,
}

/// The numbers of a picture in this form: 0 to 255, row after row, the colours of a pixel side by side. An error says what is
/// wrong.
pub fn decode(bytes: &[u8], form: PictureForm) -> Result<Vec<u8>, String> {
    let pixels = of_kind(bytes, |kind| match kind {
        PictureKind::Png => png_pixels(bytes, form.colour),
        PictureKind::Jpeg => jpeg_pixels(bytes, form.colour),
    })?;
    let (width, height) = (form.width as usize, form.height as usize);
    let sides = if pixels.orientation >= 5 { (height, width) } else { (width, height) };
    let planes = pixels.planes.iter().map(|plane| resized(plane, sides.0, sides.1));
    let planes: Vec<Plane> = planes.map(|plane| plane.turned(pixels.orientation)).collect();
    let mut numbers = Vec::with_capacity(width * height * planes.len());
    for place in 0..width * height {
        numbers.extend(planes.iter().map(|plane| plane.levels[place]));
    }
    Ok(numbers)
}

/// Width and height as the picture is seen.
pub(crate) fn size(bytes: &[u8]) -> Result<(u32, u32), String> {
    let (width, height, orientation) = of_kind(bytes, |kind| match kind {
        PictureKind::Png => {
            let reader = png_reader(bytes)?;
            let info = reader.info();
            let orientation = exif::png_data(bytes).map_or(1, exif::orientation);
            Ok((info.width as usize, info.height as usize, orientation))
        }
        PictureKind::Jpeg => {
            let decoder = jpeg_decoder(bytes, ColorSpace::RGB)?;
            let (width, height) = decoder.dimensions().ok_or("the picture has no size")?;
            Ok((width, height, decoder.exif().map_or(1, |data| exif::orientation(data))))
        }
    })?;
    check_size(width, height)?;
    let (width, height) = if orientation >= 5 { (height, width) } else { (width, height) };
    Ok((width as u32, height as u32))
}

/// What a decoder makes of a picture of its kind. One that panics has met a damaged picture.
fn of_kind<T>(bytes: &[u8], decode: impl FnOnce(PictureKind) -> Result<T, String>) -> Result<T, String> {
    let kind = PictureKind::of(bytes).ok_or("this is no PNG and no JPEG picture")?;
    guarded(|| decode(kind), || format!("the {kind} picture is damaged"))
}

impl fmt::Display for PictureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PictureKind::Png => "PNG",
            PictureKind::Jpeg => "JPEG",
        })
    }
}

fn check_size(width: usize, height: usize) -> Result<(), String> {
    let pixels = width as u64 * height as u64;
    match pixels {
        0 => Err("the picture has no pixels".to_string()),
        _ if width > LONGEST_SIDE || height > LONGEST_SIDE => {
            let most = grouped(LONGEST_SIDE as u64);
            Err(format!("the picture has {width}x{height} pixels, and no side may have more than {most}"))
        }
        _ if pixels > MAX_PIXELS => {
            let most = grouped(MAX_PIXELS);
            Err(format!("the picture has {width}x{height} pixels, and at most {most} are accepted"))
        }
        _ => Ok(()),
    }
}

fn png_reader(bytes: &[u8]) -> Result<png::Reader<Cursor<&[u8]>>, String> {
    let limits = png::Limits { bytes: MAX_PIXELS as usize * 4 };
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), limits);
    decoder.set_ignore_text_chunk(true);
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    decoder.read_info().map_err(|error| match error {
        // The header says width and height, of four bytes each, after a signature, a length and its name.
        png::DecodingError::LimitsExceeded => {
            let side = |at| {
                bytes.get(at..at + 4).and_then(|side| side.try_into().ok()).map_or(0, u32::from_be_bytes)
            };
            let too_large = check_size(side(16) as usize, side(20) as usize).err();
            too_large.unwrap_or_else(|| "the PNG picture needs more memory than is accepted".to_string())
        }
        error => png_damage(&error),
    })
}

/// What the library says of a picture, without the names of its types.
fn png_damage(error: &png::DecodingError) -> String {
    let text = error.to_string();
    format!("the PNG picture is damaged: {}", text.split(": ChunkType {").next().unwrap_or(&text))
}

fn png_pixels(bytes: &[u8], colour: bool) -> Result<Pixels, String> {
    let mut reader = png_reader(bytes)?;
    let (width, height) = (reader.info().width as usize, reader.info().height as usize);
    check_size(width, height)?;
    let orientation = exif::png_data(bytes).map_or(1, exif::orientation);
    let room = reader.output_buffer_size().ok_or("the PNG picture needs more memory than is accepted")?;
    let mut levels = vec![0; room];
    let frame = reader.next_frame(&mut levels).map_err(|error| png_damage(&error))?;
    let samples = frame.color_type.samples();
    let has_alpha = matches!(frame.color_type, png::ColorType::GrayscaleAlpha | png::ColorType::Rgba);
    Ok(Pixels { planes: planes(&levels, width, height, samples, has_alpha, colour)?, orientation })
}

fn jpeg_decoder(bytes: &[u8], colours: ColorSpace) -> Result<JpegDecoder<Cursor<&[u8]>>, String> {
    let options = DecoderOptions::default()
        .set_max_width(LONGEST_SIDE)
        .set_max_height(LONGEST_SIDE)
        .jpeg_set_max_scans(MAX_SCANS)
        .set_strict_mode(true)
        .jpeg_set_out_colorspace(colours);
    let mut decoder = JpegDecoder::new_with_options(Cursor::new(bytes), options);
    decoder.decode_headers().map_err(|error| format!("the JPEG picture is damaged: {error}"))?;
    Ok(decoder)
}

fn jpeg_pixels(bytes: &[u8], colour: bool) -> Result<Pixels, String> {
    let mut decoder = jpeg_decoder(bytes, ColorSpace::RGB)?;
    let (width, height) = decoder.dimensions().ok_or("the picture has no size")?;
    check_size(width, height)?;
    // The brightness is stored by itself: colours need not be made to be taken away again.
    let brightness = matches!(decoder.input_colorspace(), Some(ColorSpace::YCbCr | ColorSpace::Luma));
    if !colour && brightness {
        decoder = jpeg_decoder(bytes, ColorSpace::Luma)?;
    }
    let orientation = decoder.exif().map_or(1, |data| exif::orientation(data));
    let levels = decoder.decode().map_err(|error| format!("the JPEG picture is damaged: {error}"))?;
    let samples = levels.len() / (width * height);
    Ok(Pixels { planes: planes(&levels, width, height, samples, false, colour)?, orientation })
}

/// The channels that are wanted from pixels of this many samples. Transparent pixels are seen on white.
fn planes(
    levels: &[u8],
    width: usize,
    height: usize,
    samples: usize,
    has_alpha: bool,
    colour: bool,
) -> Result<Vec<Plane>, String> {
    if levels.len() < width * height * samples || !(1..=4).contains(&samples) {
        return Err("the picture is damaged: pixels are missing".to_string());
    }
    let channels = if colour { 3 } else { 1 };
    let mut planes: Vec<Vec<u8>> = vec![Vec::with_capacity(width * height); channels];
    for pixel in levels.chunks_exact(samples).take(width * height) {
        let on_white = |level: u8| match (has_alpha, pixel) {
            (true, [.., alpha]) => {
                let (level, alpha) = (u32::from(level), u32::from(*alpha));
                ((level * alpha + 255 * (255 - alpha) + 127) / 255) as u8
            }
            _ => level,
        };
        let [red, green, blue] = match *pixel {
            [red, green, blue, ..] => [on_white(red), on_white(green), on_white(blue)],
            [grey, ..] => [on_white(grey); 3],
            [] => [0; 3],
        };
        if colour {
            planes[0].push(red);
            planes[1].push(green);
            planes[2].push(blue);
        } else {
            planes[0].push(grey(red, green, blue));
        }
    }
    Ok(planes.into_iter().map(|levels| Plane { width, levels }).collect())
}

/// How bright a colour is, by ITU-R 601, which is what JPEG stores.
fn grey(red: u8, green: u8, blue: u8) -> u8 {
    let [red, green, blue] = [red, green, blue].map(u32::from);
    ((red * 19_595 + green * 38_470 + blue * 7_471 + 0x8000) >> 16) as u8
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
