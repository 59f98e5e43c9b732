use crate::Error;
use crate::features::PictureForm;
use crate::read::{
    Format, Labels, Loaded, PictureOptions, PictureSize, ReadOptions, RowStream, Schema, Source, read,
};
use std::fs;
use std::path::Path;

const JPEG: &[u8] = include_bytes!("samples/colour.jpg");

fn png(width: u32, height: u32, level: u8) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Grayscale);
    let levels = vec![level; (width * height) as usize];
    encoder.write_header().unwrap().write_image_data(&levels).unwrap();
    bytes
}

/// Two classes: dark pictures and bright ones, of several sizes.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (class, level) in [("dark", 20), ("bright one", 220)] {
        fs::create_dir(folder.path().join(class)).unwrap();
        for i in 0..7u8 {
            let bytes = png(4 + u32::from(i), 4, level + i);
            fs::write(folder.path().join(class).join(format!("{i}.png")), bytes).unwrap();
        }
    }
    fs::write(folder.path().join("dark").join("photo.jpeg"), JPEG).unwrap();
    folder
}

fn load(path: &Path, options: &ReadOptions) -> Result<Loaded, Error> {
    read(&Source::from(path), options, &mut ())
}

fn sized(width: u32, height: u32, colour: bool) -> ReadOptions {
    let pictures = PictureOptions { size: Some(PictureSize { width, height }), colour };
    ReadOptions { pictures, ..ReadOptions::default() }
}

#[test]
fn a_folder_of_classes_is_read_in_order() {
    let folder = folder();
    let loaded = load(folder.path(), &ReadOptions::default()).unwrap();
    assert_eq!(loaded.format, Format::PICTURES);
    assert_eq!(loaded.notes.format, "15 pictures in 2 classes, 4x4 pixels in grey");
    assert_eq!(loaded.schema, Schema::Pictures(PictureForm { width: 4, height: 4, colour: false }));
    assert_eq!(loaded.dataset.classes(), ["bright one", "dark"]);
    let first = |i: usize| loaded.dataset.row(i).iter().next().map_or(0.0, |(_, level)| level);
    assert_eq!((0..7).map(first).collect::<Vec<_>>(), (220..227).map(f64::from).collect::<Vec<_>>());
    assert_eq!((7..14).map(first).collect::<Vec<_>>(), (20..27).map(f64::from).collect::<Vec<_>>());
    let colour = load(folder.path(), &sized(3, 2, true)).unwrap();
    assert_eq!((colour.dataset.columns(), colour.dataset.len()), (18, 15));
}

/// Batches, threads and windows change no bit.
#[test]
fn threads_do_not_show() {
    let folder = folder();
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            load(folder.path(), &sized(600, 500, false)).unwrap().dataset.fingerprint().to_string()
        })
    };
    assert_eq!(with(1), with(4));
}

#[test]
fn broken_pictures_are_named_or_skipped() {
    let folder = folder();
    let broken = folder.path().join("dark").join("broken.png");
    fs::write(&broken, &png(9, 9, 3)[..50]).unwrap();
    fs::write(folder.path().join("dark").join("notes.txt"), "not a picture").unwrap();
    let error = load(folder.path(), &sized(4, 4, false)).unwrap_err().to_string();
    assert!(error.starts_with(&format!("{}: the PNG picture is damaged", broken.display())), "{error}");
    let options = ReadOptions { skip_bad: true, ..sized(4, 4, false) };
    let loaded = load(folder.path(), &options).unwrap();
    assert_eq!((loaded.dataset.len(), loaded.notes.skipped), (15, 2));
    assert!(loaded.notes.first_skipped[1].reason.ends_with("notes.txt: this is no PNG and no JPEG picture"));
    let small = ReadOptions { max_file: Some(300), skip_bad: true, ..sized(4, 4, false) };
    assert_eq!(load(folder.path(), &small).unwrap().dataset.len(), 14, "the JPEG picture is larger");
}

#[test]
fn a_model_keeps_the_size() {
    let folder = folder();
    let trained = load(folder.path(), &sized(5, 4, false)).unwrap();
    let known = ReadOptions {
        schema: Some(trained.schema.clone()),
        labels: Labels::Ignored,
        ..ReadOptions::default()
    };
    let picture = folder.path().join("dark").join("photo.jpeg");
    let mut stream = RowStream::open(&Source::from(picture.as_path()), &known).unwrap();
    let batch = stream.next_batch().unwrap().unwrap();
    assert_eq!((batch.len(), batch.row(0).width()), (1, 20));
    assert_eq!(stream.row_name(0), Some(picture.as_path()));
    assert!(stream.next_batch().unwrap().is_none());
    let other = ReadOptions { pictures: sized(6, 4, false).pictures, ..known.clone() };
    let error = RowStream::open(&Source::from(folder.path()), &other).err().unwrap().to_string();
    assert!(
        error.contains("these are pictures of 6x4 pixels in grey, and the model was trained with 5x4"),
        "{error}"
    );
    let table = ReadOptions { schema: Some(Schema::Array { features: 20 }), ..known };
    let error = RowStream::open(&Source::from(picture.as_path()), &table).err().unwrap().to_string();
    assert!(error.contains("the model was not trained on pictures"), "{error}");
    let error = load(&picture, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("one file without a label"), "{error}");
    let huge = load(folder.path(), &sized(60_000, 60_000, false)).unwrap_err().to_string();
    assert!(huge.contains("more than 16777216 features"), "{huge}");
}
