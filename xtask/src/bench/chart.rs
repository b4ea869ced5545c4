//! Draws the ratios: a bar per case, with marks for the required and the target ratio.

use std::fmt::Write as _;

use super::results::ResultRow;

const WIDTH: f64 = 900.0;
const LABEL_WIDTH: f64 = 380.0;
const LINE_HEIGHT: f64 = 26.0;

/// Returns an SVG of all rows with a ratio. Each bar is scaled to the goals of its case, which differ widely.
pub(super) fn render_svg(rows: &[ResultRow]) -> String {
    let bars: Vec<_> = rows.iter().filter_map(ResultRow::chart_bar).collect();
    let height = LINE_HEIGHT * (2.0 + f64::from(u32::try_from(bars.len()).unwrap_or(u32::MAX)));
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" font-family=\"sans-serif\" \
         font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"10\" y=\"18\" font-weight=\"bold\">Rate relative to the baseline of the same run; | required, : target</text>\n"
    );
    let mut top = LINE_HEIGHT * 1.5;
    for (name, ratio, required, target) in bars {
        let scale = (WIDTH - LABEL_WIDTH - 90.0) / ratio.max(target) / 1.05;
        let at = |value: f64| LABEL_WIDTH + value * scale;
        let colour = if ratio >= target {
            "#2e7d32"
        } else if ratio >= required {
            "#7cb342"
        } else {
            "#e57373"
        };
        let (text, bar, end) = (top + 14.0, top + 3.0, top + LINE_HEIGHT - 6.0);
        let _written = write!(
            svg,
            "<text x=\"{x}\" y=\"{text}\" text-anchor=\"end\">{name}</text>\n\
             <rect x=\"{LABEL_WIDTH}\" y=\"{bar}\" width=\"{width:.1}\" height=\"14\" fill=\"{colour}\"/>\n\
             <path d=\"M{required:.1} {top}V{end}\" stroke=\"black\" stroke-width=\"2\"/>\n\
             <path d=\"M{target:.1} {top}V{end}\" stroke=\"black\" stroke-dasharray=\"3 3\"/>\n\
             <text x=\"{label:.1}\" y=\"{text}\">{ratio:.2}</text>\n",
            x = LABEL_WIDTH - 8.0,
            width = ratio * scale,
            required = at(required),
            target = at(target),
            label = at(ratio.max(target)) + 8.0,
        ); // writing to a String cannot fail
        top += LINE_HEIGHT;
    }
    svg + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::super::results::{Goal, ResultRow, Round};
    use super::render_svg;

    #[test]
    fn a_bar_for_each_case_that_has_a_ratio() {
        let round = |rate| Round { baseline: Some(100.0), ..Round::from_rate(rate) };
        let wanted = [Goal::RatioAtLeast(0.5)];
        let row = |rate| {
            ResultRow::from_rounds("post", vec![round(rate)])
                .on_database("sqlite")
                .with_goals(&wanted, &wanted)
        };
        let picture = render_svg(&[row(40.0), ResultRow::new("nothing"), row(60.0)]);
        assert_eq!(picture.matches(">post, sqlite<").count(), 2);
        assert!(picture.contains(">0.40<") && picture.contains("#e57373") && picture.contains("#2e7d32"));
    }
}
