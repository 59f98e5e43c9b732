//! Columns that are not plain numbers: whether all their cells are numbers in one style, dates or times.
//!
//! Only columns with a cell that is no plain number are looked at, and of a column of words no more than the first cells,
//! until one of them fits nothing.

use super::columns::{Draft, Role};
use super::dialect::nowhere;
use super::records::{Fault, Record, Records};
use super::remarks;
use super::survey::Tally;
use crate::features::dates::{days, hours};
use crate::features::styled::Written;
use crate::features::{CellForm, Currency, DateOrder, Decimal, Style};
use crate::read::ColumnAs;
use crate::read::error::{ReadErrorKind, excerpt};
use crate::read::number::is_inexact_whole;

/// What the columns turned out to be.
pub(super) struct Guesses {
    /// How the cells of each column become numbers, where they do.
    pub(super) forms: Vec<CellForm>,
    /// The guess, with an example and how to overrule it.
    pub(super) remarks: Vec<String>,
    /// Whether more rows could tell otherwise without one of them being a contradiction.
    pub(super) doubtful: bool,
}

/// Looks at the columns whose cells are not all plain numbers, and at those that the user speaks of.
pub(super) fn guess(draft: &Draft, records: &mut Records, tallies: &[Tally]) -> Result<Guesses, Fault> {
    let columns = draft.names.len();
    let mut guesses = Guesses { forms: vec![CellForm::Plain; columns], remarks: Vec::new(), doubtful: false };
    let is_asked =
        |j: usize| draft.asked[j].is_some_and(|asked| !matches!(asked, ColumnAs::Words | ColumnAs::Text));
    let considered = |j: usize| {
        let guessed = tallies[j].words && draft.asked[j].is_none();
        draft.roles[j] == Role::Feature && (guessed || is_asked(j))
    };
    let mut seen: Vec<Option<Seen>> = (0..columns).map(|j| considered(j).then(Seen::default)).collect();
    look(draft, records, &mut seen);
    if (0..columns).all(|j| !is_asked(j) && seen[j].as_ref().is_none_or(|seen| !seen.is_alive())) {
        return Ok(guesses);
    }
    // The numbers of other columns tell what a comma means in this file.
    if seen.iter().flatten().any(|seen| seen.comma && seen.divided) {
        let plain =
            |j: usize| draft.roles[j] == Role::Feature && !tallies[j].words && draft.asked[j].is_none();
        let mut numbers: Vec<Option<Seen>> = (0..columns).map(|j| plain(j).then(Seen::default)).collect();
        look(draft, records, &mut numbers);
        seen.iter_mut().zip(numbers).for_each(|(seen, number)| *seen = seen.take().or(number));
    }
    let file = FileEvidence::of(&seen, draft.delimiter);
    for (j, seen) in seen.iter().enumerate() {
        let Some(seen) = seen else { continue };
        let name = &draft.names[j];
        let verdict = match draft.asked[j] {
            None if !tallies[j].words => seen.plain_numbers(&file),
            None => seen.verdict(&file),
            Some(asked) => Verdict::Form(seen.asked(asked, &file, name)?),
        };
        match verdict {
            Verdict::Form(form) => {
                guesses.forms[j] = form;
                guesses.doubtful |= seen.is_open(form);
                let remark = (form != CellForm::Plain && draft.asked[j].is_none())
                    .then(|| seen.remark(name, form))
                    .flatten();
                guesses.remarks.extend(remark);
            }
            Verdict::Open(remark) => {
                guesses.doubtful = true;
                guesses.remarks.extend(remark.map(|remark| remark(name, seen.example())));
            }
            Verdict::Nearly => {
                let stray = seen.odd_cell().filter(|_| draft.asked[j].is_none());
                guesses
                    .remarks
                    .extend(stray.map(|(stray, line)| remarks::nearly(name, seen.example(), stray, *line)));
            }
            Verdict::Words => {}
        }
    }
    Ok(guesses)
}

/// Shows every cell of the columns to be looked at, until none of them can be anything but words.
fn look(draft: &Draft, records: &mut Records, seen: &mut [Option<Seen>]) {
    let mut record = Record::default();
    let mut header = draft.header;
    records.rewind();
    while seen.iter().flatten().any(Seen::is_alive)
        && let Ok(true) = records.next(&mut record)
    {
        if record.misshape(seen.len()).is_some() || std::mem::take(&mut header) {
            continue;
        }
        for (j, seen) in seen.iter_mut().enumerate() {
            if let Some(seen) = seen.as_mut().filter(|seen| seen.is_alive())
                && !draft.missing_words.in_numbers(record.cell(j))
            {
                seen.add(record.cell(j), record.line_of(j));
            }
        }
    }
}

/// What is said about a column that may be one thing or another.
type OpenRemark = fn(&str, &str) -> String;

enum Verdict {
    Words,
    Form(CellForm),
    /// Words, though few cells are more than numbers in a style, or dates.
    Nearly,
    /// Words, unless other rows decide it.
    Open(Option<OpenRemark>),
}

/// What the file says about the meaning of a comma, and about the order of dates.
struct FileEvidence {
    points: bool,
    commas: bool,
    semicolons: bool,
    day_first: bool,
    month_first: bool,
}

impl FileEvidence {
    fn of(seen: &[Option<Seen>], delimiter: u8) -> Self {
        let any =
            |wanted: fn(&Seen) -> bool| seen.iter().flatten().any(|seen| seen.is_whole() && wanted(seen));
        Self {
            points: any(|seen| seen.point && !seen.comma),
            commas: any(|seen| seen.comma && !seen.point && !seen.is_suspect()),
            semicolons: delimiter == b';',
            day_first: any(|seen| seen.is_date(DateOrder::DayFirst) && !seen.is_date(DateOrder::MonthFirst)),
            month_first: any(|seen| {
                seen.is_date(DateOrder::MonthFirst) && !seen.is_date(DateOrder::DayFirst)
            }),
        }
    }

    /// What a comma before three digits means; `None` if nothing tells.
    fn decimal(&self) -> Option<Decimal> {
        match (self.points, self.commas) {
            (true, false) => Some(Decimal::Point),
            (false, true) => Some(Decimal::Comma),
            _ => self.semicolons.then_some(Decimal::Comma),
        }
    }
}

/// One cell in so many may be no number without making the column one of words that nothing is said about.
const MAX_STRAYS: u64 = 20;

/// Cells that are numbers or dates before it is worth a remark that others are not.
const MIN_CELLS: u64 = 10;

/// How many cells have a form, and how many have not, with the first of these and its line.
#[derive(Default)]
struct FitCount {
    fits: u64,
    others: u64,
    other: Option<(String, u64)>,
}

impl FitCount {
    fn add(&mut self, fits: bool, cell: &[u8], line: u64) {
        self.fits += u64::from(fits);
        if !fits {
            self.others += 1;
            self.other.get_or_insert_with(|| (excerpt(cell), line));
        }
    }

    /// Whether hardly any cell has another form.
    fn is_nearly_all(&self) -> bool {
        self.others <= 1 + self.fits / MAX_STRAYS
    }
}

/// What the cells of a column have in common so far.
struct Seen {
    /// Cells that may be numbers, dates or times, and those that may not, with the first of them and its line.
    cells: u64,
    strays: u64,
    stray: Option<(String, u64)>,
    /// Cells that are dates in each of the orders, and those that are not.
    date_counts: [FitCount; 3],
    /// Whether all cells are numbers with a decimal point, or with a decimal comma.
    point: bool,
    comma: bool,
    /// Whether one of them has a point or a comma, and whether one is divided by spaces.
    divided: bool,
    spaced: bool,
    /// Cells of at least three groups of digits with points between them, and no comma.
    dotted: u64,
    percents: u64,
    brackets: u64,
    currency: Option<Currency>,
    /// The number of digits of the first cell, and whether others have more or fewer.
    digits: usize,
    lengths_differ: bool,
    dates: [bool; 3],
    times: bool,
    /// A cell that shows the style: the first, or the first that is divided.
    example: Option<String>,
    divided_example: Option<String>,
}

impl Default for Seen {
    fn default() -> Self {
        Self {
            cells: 0,
            strays: 0,
            stray: None,
            date_counts: Default::default(),
            point: true,
            comma: true,
            divided: false,
            spaced: false,
            dotted: 0,
            percents: 0,
            brackets: 0,
            currency: None,
            digits: 0,
            lengths_differ: false,
            dates: [true; 3],
            times: true,
            example: None,
            divided_example: None,
        }
    }
}

impl Seen {
    /// Whether all cells so far may be numbers, dates or times, or nearly all of them dates in one order.
    fn is_alive(&self) -> bool {
        let nearly_dates = || self.date_counts.iter().any(FitCount::is_nearly_all);
        self.point || self.comma || self.times || self.dates.contains(&true) || nearly_dates()
    }

    /// The order of dates that hardly any cell does not have, where there are enough of them.
    fn nearly_dates(&self) -> Option<(DateOrder, &FitCount)> {
        let counts = DateOrder::ALL.into_iter().zip(&self.date_counts);
        let mut nearly = counts.filter(|(_, count)| count.fits >= MIN_CELLS && count.is_nearly_all());
        nearly.next()
    }

    /// The first cell that keeps the column from being numbers or dates, and its line.
    fn odd_cell(&self) -> Option<&(String, u64)> {
        self.stray.as_ref().or_else(|| self.nearly_dates()?.1.other.as_ref())
    }

    fn is_date(&self, order: DateOrder) -> bool {
        DateOrder::ALL.iter().zip(self.dates).any(|(&one, fits)| one == order && fits)
    }

    /// Whether there are cells, and all of them may be numbers, dates or times.
    fn is_whole(&self) -> bool {
        self.cells > 0 && self.strays == 0
    }

    fn add(&mut self, cell: &[u8], line: u64) {
        let text = std::str::from_utf8(cell).unwrap_or("").trim();
        let dates = DateOrder::ALL.map(|order| days(text, order).is_some());
        for (count, fits) in self.date_counts.iter_mut().zip(dates) {
            count.add(fits, cell, line);
        }
        let time = hours(text).is_some();
        if !dates.contains(&true) && !time && Written::of(text).is_none() {
            self.strays += 1;
            self.stray.get_or_insert_with(|| (excerpt(cell), line));
            // More of them, and the column is one of words.
            if self.strays > 1 + self.cells / MAX_STRAYS {
                (self.point, self.comma, self.dates, self.times) = (false, false, [false; 3], false);
            }
            return;
        }
        self.cells += 1;
        for (fits, date) in self.dates.iter_mut().zip(dates) {
            *fits = *fits && date;
        }
        self.times = self.times && time;
        if self.example.is_none() && text.parse::<f64>().is_err() {
            self.example = Some(excerpt(cell));
        }
        if self.point || self.comma {
            self.add_number(text);
        }
    }

    fn add_number(&mut self, text: &str) {
        let written =
            Written::of(text).filter(|written| !is_inexact_whole(f64::INFINITY, written.body.as_bytes()));
        let Some(written) = written else {
            (self.point, self.comma) = (false, false);
            return;
        };
        self.point = self.point && written.number(Decimal::Point).is_some();
        self.comma = self.comma && written.number(Decimal::Comma).is_some();
        if let (Some(one), Some(other)) = (self.currency, written.currency)
            && one != other
        {
            (self.point, self.comma) = (false, false);
        }
        self.currency = self.currency.or(written.currency);
        self.percents += u64::from(written.percent);
        self.brackets += u64::from(written.brackets);
        self.dotted += u64::from(written.body.matches('.').count() >= 2 && !written.body.contains(','));
        if written.is_divided() {
            self.spaced |= written.body.contains(' ');
            self.divided |= written.body.contains(['.', ',']);
            if self.divided_example.is_none() {
                self.divided_example = Some(excerpt(text.as_bytes()));
            }
        }
        let digits = text.bytes().filter(u8::is_ascii_digit).count();
        if self.cells == 1 {
            self.digits = digits;
        }
        self.lengths_differ |= digits != self.digits;
    }

    /// Whether the numbers are written in one style.
    fn is_one_style(&self) -> bool {
        self.percents == 0 || self.percents == self.cells
    }

    /// Whether the style may be that of something else: footnotes in brackets, telephone numbers.
    fn is_suspect(&self) -> bool {
        self.brackets == self.cells || self.may_be_telephone()
    }

    /// Whether the cells have the same number of digits, divided by spaces, or by points where no comma stands before
    /// decimals: `555 123 456`, `712.307.833`.
    fn may_be_telephone(&self) -> bool {
        let spaced = self.spaced && !self.divided;
        let dotted = self.dotted == self.cells && !self.spaced;
        self.percents == 0 && self.currency.is_none() && !self.lengths_differ && (spaced || dotted)
    }

    fn styled(&self, decimal: Decimal) -> CellForm {
        CellForm::Styled(Style { decimal, percent: self.percents > 0, currency: self.currency })
    }

    /// What a column is that has cells other than plain numbers.
    fn verdict(&self, file: &FileEvidence) -> Verdict {
        if !self.is_whole() {
            // Of plain numbers with a word among them something else is said.
            let is_remarkable = self.cells >= MIN_CELLS && self.is_alive() && self.example.is_some();
            return if is_remarkable { Verdict::Nearly } else { Verdict::Words };
        }
        match self.dates {
            [true, _, _] => return Verdict::Form(CellForm::Date(DateOrder::YearFirst)),
            [_, true, false] => return Verdict::Form(CellForm::Date(DateOrder::DayFirst)),
            [_, false, true] => return Verdict::Form(CellForm::Date(DateOrder::MonthFirst)),
            [_, true, true] => {
                return match (file.day_first, file.month_first) {
                    (true, false) => Verdict::Form(CellForm::Date(DateOrder::DayFirst)),
                    (false, true) => Verdict::Form(CellForm::Date(DateOrder::MonthFirst)),
                    _ => Verdict::Open(Some(remarks::open_date)),
                };
            }
            [false, false, false] => {}
        }
        if self.times {
            return Verdict::Form(CellForm::Time);
        }
        if !(self.point || self.comma) {
            return self.nearly_dates().map_or(Verdict::Words, |_| Verdict::Nearly);
        }
        if !self.is_one_style() {
            return Verdict::Open(Some(remarks::some_percents));
        }
        if self.is_suspect() {
            return Verdict::Open(self.may_be_telephone().then_some(remarks::telephone as OpenRemark));
        }
        self.number(file).map_or(Verdict::Open(Some(remarks::open_number)), Verdict::Form)
    }

    /// What numbers the cells are; `None` if a comma may mean one thing or another.
    fn number(&self, file: &FileEvidence) -> Option<CellForm> {
        let decimal = match (self.point, self.comma) {
            (true, false) => Decimal::Point,
            (false, true) => Decimal::Comma,
            _ if !self.divided => Decimal::Point,
            _ if self.currency.is_some_and(Currency::has_decimal_point) => Decimal::Point,
            _ => file.decimal()?,
        };
        Some(self.styled(decimal))
    }

    /// What a column of plain numbers is: `1.234` means 1234 in a file of decimal commas.
    fn plain_numbers(&self, file: &FileEvidence) -> Verdict {
        let thousands = self.divided && self.comma && self.point && file.commas && !file.points;
        Verdict::Form(if thousands { self.styled(Decimal::Comma) } else { CellForm::Plain })
    }

    /// The kind of the column that the user set.
    fn asked(&self, asked: ColumnAs, file: &FileEvidence, name: &str) -> Result<CellForm, Fault> {
        let is_style = self.cells > 0 && (self.point || self.comma) && self.is_one_style();
        Ok(match asked {
            ColumnAs::Words | ColumnAs::Text => CellForm::Plain,
            ColumnAs::Number if is_style && self.example.is_some() => match self.number(file) {
                Some(form) => form,
                None => {
                    let what = "have commas that may be decimal or thousands separators: use decimal-point \
                                or decimal-comma";
                    return Err(unsettled(name, what));
                }
            },
            ColumnAs::Number => CellForm::Plain,
            ColumnAs::DecimalPoint => self.styled(Decimal::Point),
            ColumnAs::DecimalComma => self.styled(Decimal::Comma),
            ColumnAs::DayFirst => CellForm::Date(DateOrder::DayFirst),
            ColumnAs::MonthFirst => CellForm::Date(DateOrder::MonthFirst),
            ColumnAs::Date => match self.verdict(file) {
                Verdict::Form(form @ (CellForm::Date(_) | CellForm::Time)) => form,
                Verdict::Open(_) if self.dates[1] => {
                    return Err(unsettled(
                        name,
                        "hold dates that may begin with the day or the month: use day-first or month-first",
                    ));
                }
                _ => CellForm::Date(self.nearly_dates().map_or(DateOrder::YearFirst, |(order, _)| order)),
            },
        })
    }

    /// Whether later cells of this form could make it another one.
    fn is_open(&self, form: CellForm) -> bool {
        let CellForm::Styled(_) = form else { return false };
        self.point && self.comma && !self.divided && !self.currency.is_some_and(Currency::has_decimal_point)
    }

    fn example(&self) -> &str {
        self.divided_example.as_deref().or(self.example.as_deref()).unwrap_or("")
    }

    /// Another way in which all cells could be read, which only other columns speak against.
    fn other(&self, form: CellForm) -> Option<ColumnAs> {
        match form {
            CellForm::Styled(_) if self.currency.is_some_and(Currency::has_decimal_point) => None,
            CellForm::Styled(style) if self.point && self.comma && self.divided => {
                Some(match style.decimal {
                    Decimal::Point => ColumnAs::DecimalComma,
                    Decimal::Comma => ColumnAs::DecimalPoint,
                })
            }
            CellForm::Date(DateOrder::DayFirst) if self.is_date(DateOrder::MonthFirst) => {
                Some(ColumnAs::MonthFirst)
            }
            CellForm::Date(DateOrder::MonthFirst) if self.is_date(DateOrder::DayFirst) => {
                Some(ColumnAs::DayFirst)
            }
            _ => None,
        }
    }

    /// The guess, with an example and how to overrule it.
    fn remark(&self, name: &str, form: CellForm) -> Option<String> {
        let example = match form {
            CellForm::Styled(_) => self.example(),
            _ => self.example.as_deref().unwrap_or(""),
        };
        Some(remarks::guessed(name, form, example, form.parse(example.as_bytes())?, self.other(form)))
    }
}

fn unsettled(name: &str, what: &str) -> Fault {
    let reason = format!("⟦column⟧: the cells of column \"{name}\" {what}");
    nowhere(ReadErrorKind::Misused(reason))
}
