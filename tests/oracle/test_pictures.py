"""Pictures as Pillow writes them: Pillow is the judge of what they show."""

import numpy
import pytest
from PIL import Image, ImageOps

WIDTH, HEIGHT = 24, 16


def drawing(seed, mode="RGB", size=(60, 44)):
    """Smooth colours with some edges, so that resampling has something to do."""
    random = numpy.random.default_rng(seed)
    small = random.integers(0, 256, (6, 8, 3)).astype("u1")
    return Image.fromarray(small).resize(size, Image.Resampling.BICUBIC).convert(mode)


def levels(program, folder, *arguments):
    """The pixels as linsep reads them, picture by picture."""
    program.run("convert", folder, "rows.csv", "--quiet", *arguments)
    rows = (program.folder / "rows.csv").read_text().splitlines()[1:]
    return numpy.array([[float(cell) for cell in row.split(",")[:-1]] for row in rows])


def expected(path, colour, size):
    picture = ImageOps.exif_transpose(Image.open(path))
    if picture.mode in ("RGBA", "LA"):
        white = Image.new("RGBA", picture.size, "white")
        picture = Image.alpha_composite(white, picture.convert("RGBA"))
    picture = picture.convert("RGB" if colour else "L")
    return numpy.asarray(picture.resize(size, Image.Resampling.BILINEAR), dtype=float).ravel()


@pytest.fixture
def folder(program):
    root = program.folder / "pictures"
    for name in ("a", "b"):
        (root / name).mkdir(parents=True)
    return root


@pytest.mark.parametrize("colour", [False, True])
@pytest.mark.parametrize("mode", ["RGB", "L", "RGBA", "P", "1"])
def test_png_pictures(program, folder, mode, colour):
    paths = []
    for i in range(6):
        picture = drawing(i, "RGB")
        if mode == "RGBA":
            picture.putalpha(drawing(i + 50, "L"))
        else:
            picture = picture.convert(mode)
        path = folder / "ab"[i // 3] / f"{i}.png"
        picture.save(path)
        paths.append(path)
    found = levels(program, folder, "--size", f"{WIDTH}x{HEIGHT}", *(["--colour"] if colour else []))
    wanted = numpy.array([expected(path, colour, (WIDTH, HEIGHT)) for path in paths])
    # Pillow rounds between the two directions, linsep once.
    assert numpy.abs(found - wanted).max() <= 2.0
    # Without a change of size the levels are the same.
    same = levels(program, folder, "--size", "60x44", *(["--colour"] if colour else []))
    assert numpy.abs(same - [expected(path, colour, (60, 44)) for path in paths]).max() <= (1.0 if mode == "RGBA" else 0.0)


@pytest.mark.parametrize("colour", [False, True])
@pytest.mark.parametrize("progressive", [False, True])
def test_jpeg_pictures_in_every_orientation(program, folder, progressive, colour):
    paths = []
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = orientation
        path = folder / "ab"[orientation > 4] / f"{orientation}.jpg"
        drawing(orientation).save(path, quality=92, subsampling=0, progressive=progressive, exif=exif)
        paths.append(path)
    found = levels(program, folder, "--size", f"{WIDTH}x{HEIGHT}", *(["--colour"] if colour else []))
    wanted = numpy.array([expected(path, colour, (WIDTH, HEIGHT)) for path in paths])
    # Decoders of JPEG may differ by a level or two, before and after the change of size.
    assert numpy.abs(found - wanted).max() <= 4.0
    assert numpy.abs(found - wanted).mean() <= 1.0


def test_the_weights_are_drawn(program, folder):
    for i in range(8):
        picture = Image.new("L", (20, 10), 30)
        # Class b is bright on the left.
        picture.paste(30 if i < 4 else 200 + i, (0, 0, 10, 10))
        picture.save(folder / "ab"[i // 4] / f"{i}.png")
    program.run("train", folder, "-o", "model", "--quiet", "--learner", "logistic")
    program.run("inspect", "model", "--weights-png", "weights.png")
    drawn = numpy.asarray(Image.open(program.folder / "weights.png").convert("RGB"), dtype=int)
    assert drawn.shape == (120, 240, 3)
    red, blue = drawn[:, :120, 0].mean() - drawn[:, :120, 2].mean(), drawn[:, 120:, 0].mean() - drawn[:, 120:, 2].mean()
    assert red > 50 and abs(blue) < 5, "the left half speaks for class b"
    said = program.run("predict", "model", folder / "b" / "7.png")
    assert said.split() == ["b"]
