//! One section: documentation, typed field and reading of every key, from one entry each.
//!
//! An entry of `section!` is a doc comment (the key's summary, which the field has too), the field with its type, the
//! reader that makes its value from syntax, the kind of value in words, and the default. A default is the text a
//! scenario would have: it is shown as it stands, and given to the key's own reader when the key is left out, so that
//! what is documented is what happens, and a default that no scenario could write cannot be. Reading few short texts
//! again costs nothing beside building a fabric. A key that is left out and has the default `None` has no value, and
//! so has one with `else`: its default depends on other keys and is said in words.

use crate::registry::Parameter;
use crate::scenario::syntax::At;

/// The keys of one section.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// Name for `virtlane describe section NAME`.
    pub name: &'static str,
    /// Key path of the section in a scenario.
    pub path: &'static str,
    /// What the section is about.
    pub summary: &'static str,
    /// Its keys.
    pub keys: &'static [Parameter],
}

/// What a field holds of its key's value: the value alone, or with its place for checks that come later.
pub trait Held<T> {
    /// Takes what is held.
    fn held(read: At<T>) -> Self;
}

impl<T> Held<T> for T {
    fn held(read: At<T>) -> Self {
        read.value
    }
}

impl<T> Held<T> for At<T> {
    fn held(read: At<T>) -> Self {
        read
    }
}

impl<T> Held<Option<T>> for Option<At<T>> {
    fn held(read: At<Option<T>>) -> Self {
        let At { value, place, path } = read;
        value.map(|value| At { value, place, path })
    }
}

/// A section: its type, its [`Section`] and how it is read.
///
/// `Type = "name" in "key.path" checked by function { entries }`, each entry
/// `/// summary` `key: Type = reader, "kind of value" or "default";`, or with `or None`, or with `else "in words"`, or
/// with nothing for a key that must be given. The function, which may be left out, sees the values and the fields they
/// were read from.
macro_rules! section {
    (@shown) => { None };
    (@shown or None) => { Some("None") };
    (@shown or $default:literal) => { Some($default) };
    (@shown else $words:literal) => { Some($words) };
    (@read $fields:ident, $key:ident, $read:expr,) => {
        $fields.required(stringify!($key), $read)
    };
    (@read $fields:ident, $key:ident, $read:expr, or None) => {
        $fields.optional(stringify!($key), $read)
    };
    (@read $fields:ident, $key:ident, $read:expr, or $default:literal) => {
        $fields.or(stringify!($key), $default, $read)
    };
    (@read $fields:ident, $key:ident, $read:expr, else $words:literal) => {
        $fields.optional(stringify!($key), $read)
    };
    (
        $(#[doc = $about:literal])+
        $Section:ident = $name:literal in $path:literal $(checked by $check:path)? {
            $(
                $(#[doc = $summary:literal])+
                $key:ident: $held:ty = $read:expr,
                    $kind:literal $(or $default:tt)? $(else $words:literal)?;
            )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq)]
        #[allow(clippy::doc_markdown, reason = "the texts are shown on terminals as they stand")]
        pub struct $Section {
            $(
                $(#[doc = $summary])+
                pub $key: $held,
            )+
        }

        impl $Section {
            /// Its keys.
            pub const SECTION: $crate::scenario::sections::Section = $crate::scenario::sections::Section {
                name: $name,
                path: $path,
                summary: concat!($($about),+).trim_ascii_start(),
                keys: &[$($crate::registry::Parameter {
                    name: stringify!($key),
                    kind: $kind,
                    default: section!(@shown $(or $default)? $(else $words)?),
                    summary: concat!($($summary),+).trim_ascii_start(),
                }),+],
            };

            /// Reads the section.
            ///
            /// # Errors
            /// The first wrong key or value.
            pub(crate) fn read(
                item: &$crate::scenario::syntax::Item<'_>,
            ) -> Result<Self, $crate::scenario::syntax::Mistake> {
                let fields = item.fields(Self::SECTION.keys)?;
                let section = Self {
                    $($key: <$held as $crate::scenario::sections::Held<_>>::held(
                        section!(@read fields, $key, $read, $(or $default)? $(else $words)?)?,
                    ),)+
                };
                $($check(&section, &fields)?;)?
                Ok(section)
            }
        }
    };
}
