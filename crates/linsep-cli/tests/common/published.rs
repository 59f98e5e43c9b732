//! Small tables from the literature on separation, as figures with their sources.

/// PI and EH of some women.
type Women = &'static [(u32, u32)];

/// Endometrial cancer, 79 women (Heinze and Schemper, 2002, *Statistics in Medicine* 21, 2409–2419): by neovasculisation
/// NV and histology grade HG, the pulsality index PI and the height EH of the endometrium, in hundredths.
const ENDOMETRIAL: [(u8, u8, Women); 3] = [
    (
        0,
        0,
        &[
            (13, 164),
            (16, 226),
            (8, 314),
            (34, 268),
            (20, 128),
            (5, 231),
            (17, 180),
            (10, 168),
            (26, 156),
            (17, 231),
            (8, 201),
            (7, 189),
            (20, 315),
            (10, 123),
            (18, 127),
            (16, 176),
            (18, 200),
            (28, 150),
            (11, 133),
            (19, 237),
            (10, 182),
            (10, 313),
            (18, 131),
            (14, 192),
            (21, 164),
            (11, 201),
            (17, 188),
            (25, 193),
            (16, 211),
            (19, 129),
            (15, 172),
            (33, 75),
            (24, 192),
            (29, 202),
            (15, 229),
            (12, 233),
            (3, 290),
            (20, 170),
            (23, 141),
            (12, 225),
            (22, 154),
            (42, 197),
            (15, 175),
            (13, 216),
            (14, 257),
            (19, 137),
            (12, 361),
            (13, 204),
            (10, 217),
        ],
    ),
    (
        0,
        1,
        &[
            (8, 264),
            (29, 88),
            (12, 127),
            (20, 137),
            (7, 97),
            (48, 184),
            (12, 111),
            (19, 161),
            (2, 118),
            (21, 119),
            (15, 106),
            (12, 169),
            (6, 184),
            (5, 130),
            (17, 96),
            (5, 35),
            (33, 85),
        ],
    ),
    (
        1,
        1,
        &[
            (38, 97),
            (22, 114),
            (7, 88),
            (25, 91),
            (15, 58),
            (22, 144),
            (40, 118),
            (5, 93),
            (0, 117),
            (49, 27),
            (11, 101),
            (21, 98),
            (19, 102),
        ],
    ),
];

/// The endometrial table, with these columns: NV, PI, EH, `2NV` for NV doubled and `-NV` for NV turned.
pub(crate) fn endometrial(columns: &[&str]) -> String {
    let mut text = format!("{},HG\n", columns.join(","));
    for (nv, hg, women) in ENDOMETRIAL {
        for &(pi, eh) in women {
            for &column in columns {
                text += &match column {
                    "NV" => format!("{nv},"),
                    "2NV" => format!("{},", 2 * nv),
                    "-NV" => format!("{},", -i32::from(nv)),
                    "PI" => format!("{pi},"),
                    _ => format!("{},", f64::from(eh) / 100.0),
                };
            }
            text += &format!("{hg}\n");
        }
    }
    text
}

/// A psychiatric interview, cases against others, by the score of a questionnaire (Silvapulle, 1981, *JRSS B* 43,
/// 310–313): score, cases, others.
const SILVAPULLE: [(u8, usize, usize); 7] =
    [(0, 0, 18), (1, 0, 8), (2, 1, 1), (4, 1, 0), (5, 3, 0), (7, 2, 0), (10, 1, 0)];

/// The psychiatric interview, one row each.
pub(crate) fn silvapulle() -> String {
    let rows = SILVAPULLE.iter().map(|(score, cases, others)| {
        format!("{score},1\n").repeat(*cases) + &format!("{score},0\n").repeat(*others)
    });
    "ghqs,y\n".to_string() + &rows.collect::<String>()
}

/// Lizards on trees (Schoener, 1970, *Ecology* 51, 408–418): perch at least 5 feet high, over 2 inches wide, in the
/// shade, time of day (0 early, 1 midday, 2 late); lizards of the species grahami, and of opalinus.
const LIZARDS: [(u8, u8, u8, u8, usize, usize); 23] = [
    (0, 0, 0, 0, 20, 2),
    (0, 0, 0, 1, 8, 1),
    (0, 0, 0, 2, 4, 4),
    (1, 0, 0, 0, 13, 0),
    (1, 0, 0, 1, 8, 0),
    (1, 0, 0, 2, 12, 0),
    (0, 1, 0, 0, 8, 3),
    (0, 1, 0, 1, 4, 1),
    (0, 1, 0, 2, 5, 3),
    (1, 1, 0, 0, 6, 0),
    (1, 1, 0, 2, 1, 1),
    (0, 0, 1, 0, 34, 11),
    (0, 0, 1, 1, 69, 20),
    (0, 0, 1, 2, 18, 10),
    (1, 0, 1, 0, 31, 5),
    (1, 0, 1, 1, 55, 4),
    (1, 0, 1, 2, 13, 3),
    (0, 1, 1, 0, 17, 15),
    (0, 1, 1, 1, 60, 32),
    (0, 1, 1, 2, 8, 8),
    (1, 1, 1, 0, 12, 1),
    (1, 1, 1, 1, 21, 5),
    (1, 1, 1, 2, 4, 4),
];

/// The lizards, one row each; the time of day with the reference early.
pub(crate) fn lizards() -> String {
    let rows = LIZARDS.iter().map(|&(high, wide, shady, time, grahami, opalinus)| {
        let cells = format!("{high},{wide},{shady},{},{}", u8::from(time == 1), u8::from(time == 2));
        format!("{cells},grahami\n").repeat(grahami) + &format!("{cells},opalinus\n").repeat(opalinus)
    });
    "high,wide,shady,midday,late,species\n".to_string() + &rows.collect::<String>()
}

/// Murder and execution in 44 states of the USA in 1950 (McManus, 1985, *Journal of Political Economy* 93, 417–425): median
/// time served, median family income, share of non-whites, labour force participation, southern, and whether anyone was
/// executed.
pub(crate) const MURDER: &str = "\
time,income,noncauc,lfp,southern,y
47,1.1,0.321,51.2,1,1
58,0.92,0.224,48.5,1,1
82,1.72,0.127,50.8,0,1
100,2.18,0.063,54.4,0,1
222,1.75,0.021,52.4,0,1
164,2.26,0.027,56.7,0,1
161,2.07,0.139,54.6,1,1
70,1.43,0.218,52.7,1,1
219,1.92,0.008,52.3,0,1
81,1.82,0.012,53,0,0
209,2.34,0.076,55.4,0,1
182,2.12,0.299,53.5,0,1
185,1.81,0.04,51.6,0,1
104,1.35,0.069,48.5,1,1
126,1.26,0.33,49.3,1,1
192,2.07,0.017,53.9,0,1
95,2.04,0.166,55.7,1,1
245,1.55,0.003,51.2,0,0
97,1.89,0.01,54,0,0
177,1.68,0.076,52.2,0,1
125,0.76,0.454,51.1,1,1
56,1.96,0.032,54,0,0
85,1.29,0.266,55,1,1
199,1.81,0.018,52.9,0,1
298,1.72,0.038,53.7,0,0
145,2.39,0.067,55.8,0,1
78,1.68,0.075,50.4,0,1
144,2.29,0.064,58.8,0,1
178,2.34,0.065,54.5,0,1
146,2.21,0.065,53.5,0,1
132,1.42,0.09,48.8,1,1
98,1.97,0.016,54.5,0,1
120,2.12,0.061,52.1,0,1
148,1.9,0.019,56,0,0
123,1.15,0.389,56.2,1,1
282,1.7,0.037,53.3,0,1
79,1.24,0.161,50.9,1,1
34,1.55,0.127,53.2,1,1
104,2.04,0.017,51.7,0,0
91,1.59,0.222,54.3,1,1
199,2.07,0.026,53.7,0,1
101,2,0.012,54.7,0,0
109,1.84,0.057,47,1,1
117,2.04,0.022,56.9,0,0
";

/// Urinary tract infections of young women and their contraceptives (Foxman and others, 1997, *Epidemiology*; table in Heinze,
/// 1999): which combinations of age, oc, vic, vicl, vis and dia, each yes or no, occur among cases, and among others.
const SEX: [(&str, &[&str]); 2] = [
    (
        "1",
        &[
            "000010", "001000", "001010", "001100", "001110", "001111", "010000", "010001", "011000",
            "011001", "011010", "011100", "011110", "101000", "101010", "101011", "101100", "101111",
            "110000", "111000",
        ],
    ),
    (
        "0",
        &[
            "000010", "001000", "001010", "001100", "001110", "010000", "010010", "011000", "011100",
            "011110", "101100", "101110", "110000", "110010", "111000", "111110",
        ],
    ),
];

/// The infections, one row for each combination.
pub(crate) fn sex() -> String {
    let row = |label: &str, cells: &str| {
        cells.chars().map(|cell| format!("{cell},")).collect::<String>() + label + "\n"
    };
    let rows = SEX.iter().flat_map(|(label, cells)| cells.iter().map(move |cells| row(label, cells)));
    "age,oc,vic,vicl,vis,dia,case\n".to_string() + &rows.collect::<String>()
}
