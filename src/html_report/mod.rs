//! One self-contained HTML page for a study: verdict first, then figures, tables, plan and the way to repeat it.
//!
//! The page needs no network, no script and no other file. Colours come from the style sheet, so it is readable on light
//! and dark screens and on paper.

mod along;
mod claims;
mod classes;
mod criteria;
mod failures;
mod flows;
mod glossary;
mod jobs;
mod numbers;
mod overview;
mod reproduce;
mod run;
mod signs;
mod study;
mod verdict;

use crate::chart::theme::roles;
use crate::figures::{Figure, FigureError};
use crate::results::{Curves, Detailed, Results};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::fmt::Write;

/// Rules that do not depend on the theme.
const STYLE: &str = include_str!("style.css");

/// Makes the page.
///
/// # Errors
/// When results cannot be read or a figure cannot be drawn.
pub fn page(results: &Results) -> Result<String, FigureError> {
    let curves = Curves::new(results)?;
    let title = title(results);
    let detailed = curves.detailed();
    let body = html! {
        (overview::section(results, &curves, &title))
        (contents(results, &curves, &detailed))
        (claims::section(&results.claims))
        @if results.runs.len() > 1 { (study::section(results, &curves)?) }
        @for (number, shown) in detailed.iter().enumerate() {
            @let several = (results.runs.len() > 1).then_some((number + 1, &curves.across));
            (run::section(*shown, several)?)
        }
        (reproduce::section(results, &detailed))
        (glossary::section())
    };
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content=(format!("virtlane {}", env!("CARGO_PKG_VERSION")));
                title { (title) " - Virtlane report" }
                style { (PreEscaped(theme() + STYLE)) }
            }
            body { main { (body) } }
        }
    };
    Ok(page.into_string())
}

/// Links to the sections that there are.
fn contents(results: &Results, curves: &Curves<'_>, detailed: &[Detailed<'_>]) -> Markup {
    let has_several = results.runs.len() > 1;
    html! {
        nav {
            @if !results.claims.is_empty() { a href="#claims" { "Expected results" } }
            @if has_several { a href="#all" { "All runs together" } }
            @for (number, shown) in (1..).zip(detailed) {
                a href=(format!("#run-{number}")) {
                    @if has_several {
                        "Run in detail: " @if !shown.label.is_empty() { (shown.label) ", " }
                        (numbers::place(&curves.across, shown.x))
                    } @else { "The run in detail" }
                }
            }
            a href="#repeat" { "How to repeat it" }
            a href="#words" { "Words" }
        }
    }
}

/// Title of the study: that of its scenario, or of all of them.
fn title(results: &Results) -> String {
    let mut titles: Vec<&str> = Vec::new();
    for run in &results.runs {
        if !titles.contains(&run.manifest.title.as_str()) {
            titles.push(&run.manifest.title);
        }
    }
    match titles[..] {
        [only] => only.to_owned(),
        [first, second] => format!("{first}; {second}"),
        _ => format!(
            "{} and {} other scenarios",
            titles.first().unwrap_or(&""),
            titles.len() - 1
        ),
    }
}

/// The colours of charts as custom properties: light, dark, and light on paper.
fn theme() -> String {
    let mut light = String::new();
    let mut dark = String::new();
    for role in roles() {
        let color = crate::chart::theme::hexadecimal(role.color);
        let _ = write!(light, "{}:{color};", role.property);
        let _ = write!(dark, "{}:{};", role.property, role.dark);
    }
    format!(
        ":root{{{light}}}\n@media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n@media print{{:root{{{light}}}}}\n"
    )
}

/// A drawing with its caption.
fn figure(figure: &Figure) -> Markup {
    let class = if figure.svg.is_wide() {
        format!("{} wide", figure.name)
    } else {
        figure.name.to_owned()
    };
    html! {
        figure class=(class) {
            div class="scroll" { (PreEscaped(figure.svg.inline(&figure.caption))) }
            figcaption { (figure.caption) }
        }
    }
}
