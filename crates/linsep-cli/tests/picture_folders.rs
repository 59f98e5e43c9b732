//! Pictures and tables of other programs, as a user gives them: training, predicting, and what is refused.

use crate::common::Folder;
use flate2::write::ZlibEncoder;
use std::io::Write;

/// A grey PNG picture.
fn png(width: u32, height: u32, level: impl Fn(u32, u32) -> u8) -> Vec<u8> {
    let mut rows = ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    for y in 0..height {
        rows.write_all(&[0]).unwrap();
        rows.write_all(&(0..width).map(|x| level(x, y)).collect::<Vec<_>>()).unwrap();
    }
    let mut header = [width.to_be_bytes(), height.to_be_bytes()].concat();
    header.extend([8, 0, 0, 0, 0]);
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    for (name, content) in [(b"IHDR", header), (b"IDAT", rows.finish().unwrap()), (b"IEND", Vec::new())] {
        bytes.extend(chunk(name, &content));
    }
    bytes
}

/// A part of a PNG picture.
fn chunk(name: &[u8], content: &[u8]) -> Vec<u8> {
    let named = [name, content].concat();
    let mut checksum = flate2::Crc::new();
    checksum.update(&named);
    [&(content.len() as u32).to_be_bytes()[..], &named, &checksum.sum().to_be_bytes()].concat()
}

/// A PNG picture of one pixel, with a palette of this many colours: 256 are the most.
fn of_palette(colours: usize) -> Vec<u8> {
    let grey = png(1, 1, |_, _| 0);
    let mut header = grey[16..29].to_vec();
    // The kind of picture: indices into a palette.
    header[9] = 3;
    let parts = [chunk(b"IHDR", &header), chunk(b"PLTE", &vec![90; 3 * colours])].concat();
    [&grey[..8], &parts, &grey[33..]].concat()
}

/// Twelve pictures of two classes: bright on the left, bright on the right.
fn pictures() -> Folder {
    let folder = Folder::with("note", "not read");
    for (class, left) in [("left", true), ("right", false)] {
        std::fs::create_dir_all(folder.path("data").join(class)).unwrap();
        for i in 0..6u8 {
            let bright = |x: u32| (x < 5) == left;
            let bytes = png(10, 8, |x, _| if bright(x) { 200 + i } else { 20 + 3 * i });
            std::fs::write(folder.path("data").join(class).join(format!("{i}.png")), bytes).unwrap();
        }
    }
    folder
}

#[test]
fn what_is_said_of_pictures_is_so() {
    let folder = pictures();
    folder.linsep("train data -o model -q").exits(0);
    folder.write("note", "a text about something");
    folder
        .linsep("predict model note --format documents")
        .exits(3)
        .says(&["the model was trained on pictures"]);
    // A file that is skipped is no picture.
    folder.write("data/left/readme.txt", "about these pictures");
    folder.linsep("train data -o model --skip-bad").exits(0).tells(&["12 rows", "12 pictures in 2 classes"]);
    // A picture that is too large is not damaged.
    let mut large = png(10, 8, |_, _| 0);
    large[16..24].copy_from_slice(&[0, 1, 0, 0, 0, 0, 0x80, 0]);
    let mut checksum = flate2::Crc::new();
    checksum.update(&large[12..29]);
    large[29..33].copy_from_slice(&checksum.sum().to_be_bytes());
    std::fs::write(folder.path("large.png"), large).unwrap();
    let ran = folder.linsep("predict model large.png").exits(3).says(&["the picture has 65536x32768 pixels"]);
    assert!(!ran.err.contains("damaged"), "{ran:#?}");
    // Features without variance are not brought to one.
    let folder = Folder::new();
    folder.write("rows.csv", "x,same,kind\n1,7,a\n4,7,b\n2,7,a\n9,7,b\n3,7,a\n5,7,b\n");
    folder
        .linsep("train rows.csv --scale standard")
        .exits(0)
        .tells(&["1 feature to mean 0 and variance 1, 1 to mean 0"]);
}

#[test]
fn a_model_of_pictures_remembers_their_size() {
    let folder = pictures();
    folder.linsep("train data -o model --learner logistic").exits(0).says(&["resized to 10x8 pixels"]);
    std::fs::write(folder.path("new.png"), png(40, 20, |x, _| if x < 20 { 255 } else { 0 })).unwrap();
    assert_eq!(folder.linsep("predict model new.png -q").exits(0).out, "left\n");
    folder.linsep("evaluate model data -q").exits(0);
    folder.linsep("predict model new.png --size 8x8").exits(3).says(&["8x8 pixels", "trained with 10x8"]);
    folder.linsep("predict model new.png --size 8").exits(2).says(&["such as 128x128"]);
    folder
        .linsep("inspect model --weights-png weights.png")
        .exits(0)
        .says(&["250x200 pixels", "red is evidence for"]);
    assert!(folder.read("weights.png").starts_with(b"\x89PNG"));
    folder.write("rows.csv", "x,kind\n1,a\n2,b\n");
    folder.linsep("predict model rows.csv").exits(3);
    folder.linsep("train rows.csv -o table -q").exits(0);
    folder
        .linsep("inspect table --weights-png w.png")
        .exits(2)
        .says(&["trained on pictures, and this one was not"]);
    assert!(!folder.has("w.png"));
    folder.linsep("predict table new.png").exits(3).says(&["the model was not trained on pictures"]);
    folder.linsep("train rows.csv --size 8x8").exits(2).says(&["--size does not apply to CSV files"]);
}

#[test]
fn the_training_pictures_of_a_folder_are_recognised() {
    let folder = pictures();
    folder.linsep("train data -o model -q --learner logistic --size 6x6").exits(0);
    folder.linsep("evaluate model data").exits(0).says(&["the model was trained on these rows"]);
    std::fs::remove_file(folder.path("data/left/0.png")).unwrap();
    folder.linsep("evaluate model data").exits(0).keeps_silent();
}

#[test]
fn the_demonstration_says_what_is_so_of_odd_folders() {
    let folder = pictures();
    folder.linsep("demo cats-dogs data").exits(3).says(&["more than 25 pictures of a class are needed"]);
    for i in 6..26u8 {
        let bytes = png(10, 8, |x, y| (7 * u32::from(i) + 13 * x + 5 * y * y) as u8);
        std::fs::write(folder.path("data/left").join(format!("{i}.png")), bytes).unwrap();
    }
    folder.linsep("demo cats-dogs data").exits(0).tells(&[
        "31 training pictures of left and right, 1 test picture;",
        "always left",
        "error on other pictures   0.00 %",
        "this is proved above",
    ]);
    // Equal pictures of two classes cannot be told apart, and nothing else is said.
    let odd = Folder::new();
    for part in ["train", "test"] {
        for class in ["a", "b"] {
            std::fs::create_dir_all(odd.path(&format!("data/{part}/{class}"))).unwrap();
            odd.write(&format!("data/{part}/{class}/1.png"), png(4, 4, |x, _| 50 * x as u8));
        }
    }
    let told = odd
        .linsep("demo cats-dogs data")
        .exits(0)
        .tells(&["The true labels:        not separable: proved", "not every labelling"]);
    for untrue in ["proved above", "training error of 0", "proves nothing"] {
        assert!(!told.out.contains(untrue), "{untrue}: {told:#?}");
    }
}

#[test]
fn broken_pictures_end_the_reading_or_are_counted() {
    let folder = pictures();
    std::fs::write(folder.path("data").join("left").join("cut.png"), &png(9, 9, |_, _| 7)[..40]).unwrap();
    let mut bomb = png(1, 1, |_, _| 0);
    bomb[16..24].copy_from_slice(&[0, 1, 0, 0, 0, 1, 0, 0]);
    let mut checksum = flate2::Crc::new();
    checksum.update(&bomb[12..29]);
    bomb[29..33].copy_from_slice(&checksum.sum().to_be_bytes());
    std::fs::write(folder.path("data").join("right").join("bomb.png"), bomb).unwrap();
    std::fs::write(folder.path("data").join("right").join("palette.png"), of_palette(257)).unwrap();
    folder.linsep("train data").exits(3).says(&["cut.png: the PNG picture is damaged", "--skip-bad"]);
    folder.linsep("train data --skip-bad --epochs 2 --size 10x8 -o model").exits(0).says(&[
        "3 files or folders were skipped",
        "the picture has 65536x65536 pixels, and at most 67,108,864 are accepted",
        "palette.png: the PNG picture is damaged",
    ]);
    folder
        .linsep("predict model data/right/palette.png")
        .exits(3)
        .says(&["palette.png: the PNG picture is damaged"]);
    std::fs::write(folder.path("longest.png"), of_palette(256)).unwrap();
    folder.linsep("predict model longest.png").exits(0);
}

#[test]
fn rows_of_other_programs_are_read_as_they_are() {
    let folder = Folder::with(
        "rows.jsonl",
        "{\"x\": 1, \"w\": \"red\", \"kind\": \"a\"}\n{\"x\": 9, \"w\": \"blue\", \"kind\": \"b\"}\n",
    );
    folder.linsep("train rows.jsonl -o model -q").exits(0);
    folder.write("new.csv", "w,x\nblue,9\nred,1\n");
    assert_eq!(folder.linsep("predict model new.csv -q").exits(0).out, "b\na\n");
    folder.write("new.jsonl", "{\"x\": 9, \"w\": \"blue\"}\n{\"w\": \"red\", \"x\": 1, \"more\": [1]}\n");
    assert_eq!(folder.linsep("predict model new.jsonl -q").exits(0).out, "b\na\n");
    folder.write("bad.jsonl", "{\"x\": 9, \"w\": \"blue\"}\n{\"x\": 9, \"w\": \n");
    folder.linsep("predict model bad.jsonl").exits(3).says(&["bad.jsonl:2:", "not a JSON object"]);
    folder.write("rows.vw", "1 3 |f a:1\n-1 |f b:2\n1 |f a:2\n");
    folder.linsep("train rows.vw -o vw").exits(0).says(&["1 row has an importance other than 1"]);
    for line in ["convert rows.vw rows.linsep", "train rows.vw --cache"] {
        folder.linsep(line).exits(3).says(&["error: rows.vw: some rows have an importance other than 1"]);
    }
    for line in ["train rows.vw --online", "train rows.vw --memory 16MB"] {
        folder.linsep(line).exits(3).says(&["rows.vw:1:3", "leave out --online and --memory"]);
    }
    folder.write("plain.vw", "1 |f a:1\n-1 |f b:2\n");
    folder.linsep("convert plain.vw out.csv -q").exits(0);
    assert_eq!(folder.text("out.csv"), "f^a,f^b,label\n1,0,1\n0,2,-1\n");
    folder
        .linsep("convert plain.vw out.jsonl")
        .exits(2)
        .says(&["linsep reads JSON Lines, but does not write it"]);
    folder.linsep("convert plain.vw out.xlsx").exits(2).says(&["linsep reads Excel, but does not write it"]);
}
