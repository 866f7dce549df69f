//! One section: documentation, typed field and reading of every key, from one entry each.
//!
//! An entry of `section!` is a doc comment (the key's summary, which the field has too), the field with its type, the
//! reader that makes the type from syntax, the kind of value in words, and the default. A default is the text a
//! scenario would have: it is shown as it stands, and given to the key's own reader when the key is left out, so that
//! what is documented is what happens, and a default that no scenario could write cannot be. Reading few short texts
//! again costs nothing beside building a fabric. Where no text says the default, because it depends on other keys,
//! `else` gives it in words and the key is read as `None`.

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
/// `/// summary` `key: Type = reader, "kind of value" or "default";`, without `or` for a key that must be given. The
/// function, which may be left out, sees the values and the fields they were read from.
macro_rules! section {
    (@shown) => { None };
    (@shown $default:literal) => { Some($default) };
    (@shown ; $words:literal) => { Some($words) };
    (@text) => { None };
    (@text $default:literal) => { Some($default) };
    (@text ; $words:literal) => { Some("None") };
    (
        $(#[doc = $about:literal])+
        $Section:ident = $name:literal in $path:literal $(checked by $check:path)? {
            $(
                $(#[doc = $summary:literal])+
                $key:ident: $held:ty = $read:expr,
                    $kind:literal $(or $default:literal)? $(else $words:literal)?;
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
                    default: section!(@shown $($default)? $(; $words)?),
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
                    $($key: <$held as $crate::scenario::sections::Held<_>>::held(fields.read(
                        stringify!($key),
                        section!(@text $($default)? $(; $words)?),
                        $read,
                    )?),)+
                };
                $($check(&section, &fields)?;)?
                Ok(section)
            }
        }
    };
}
