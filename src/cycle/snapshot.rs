//! The state of a shard as bytes and back: every column and resource that was registered, by name.
//!
//! Cost: O(state).

use bevy_ecs::component::{Component, Mutable};
use bevy_ecs::resource::Resource;
use bevy_ecs::world::World;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::any::type_name;

/// How a saved state goes on.
#[derive(Clone, Copy, Debug)]
pub struct Resume<'a> {
    /// With the fabric of another run, and sources, random choices and measurement of its own.
    pub fork: bool,
    /// Cycle in which it goes on.
    pub now: u64,
    /// Which traffic classes are always backlogged.
    pub saturating: &'a [bool],
}

/// State that can be saved; what a field of it becomes where the run goes on.
pub trait Persistent: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// `self` was saved and takes the place of `built`, the state of a shard at cycle 0. By default it goes on as it was.
    fn resume(&mut self, built: Self, how: &Resume<'_>) {
        let _ = (built, how);
    }
}

/// All that is saved of a shard.
#[derive(Debug, Default)]
pub struct Snapshot {
    items: Vec<Item>,
}

#[derive(Clone, Copy, Debug)]
struct Item {
    name: &'static str,
    save: fn(&mut World) -> Result<Vec<u8>, postcard::Error>,
    restore: fn(&mut World, &[u8], &Resume<'_>) -> Result<(), String>,
}

impl Snapshot {
    /// A component of all entities of a kind.
    pub fn column<C: Component<Mutability = Mutable> + Persistent>(&mut self) {
        self.items.push(Item {
            name: name::<C>(),
            save: save_column::<C>,
            restore: restore_column::<C>,
        });
    }

    /// A resource.
    pub fn resource<R: Resource<Mutability = Mutable> + Persistent>(&mut self) {
        self.items.push(Item {
            name: name::<R>(),
            save: save_resource::<R>,
            restore: restore_resource::<R>,
        });
    }

    /// The whole state.
    ///
    /// # Errors
    /// When it has no form as bytes, which no state has shown.
    pub fn save(&self, world: &mut World) -> Result<Vec<(String, Vec<u8>)>, String> {
        let save = |item: &Item| Ok((item.name.to_owned(), (item.save)(world)?));
        let saved: Result<_, postcard::Error> = self.items.iter().map(save).collect();
        saved.map_err(|cause| cause.to_string())
    }

    /// A resource of a saved state.
    ///
    /// # Errors
    /// When it is not there or not of this form.
    pub fn read<R: Persistent>(&self, saved: &[(String, Vec<u8>)]) -> Result<R, String> {
        let found = saved.iter().find(|(known, _)| known == name::<R>());
        let (_, bytes) = found.ok_or("it is of other mechanisms")?;
        postcard::from_bytes(bytes).map_err(|cause| cause.to_string())
    }

    /// Takes over a saved state.
    ///
    /// # Errors
    /// What does not fit.
    pub fn restore(
        &self,
        world: &mut World,
        saved: &[(String, Vec<u8>)],
        how: &Resume<'_>,
    ) -> Result<(), String> {
        let names = saved.iter().map(|(name, _)| name.as_str());
        if !names.eq(self.items.iter().map(|item| item.name)) {
            return Err(String::from("it is of other mechanisms"));
        }
        for (item, (name, bytes)) in self.items.iter().zip(saved) {
            (item.restore)(world, bytes, how).map_err(|cause| format!("{name}: {cause}"))?;
        }
        Ok(())
    }
}

/// Name of a type, without path and parameters.
pub fn name<T>() -> &'static str {
    let path = type_name::<T>();
    let path = path.split('<').next().unwrap_or(path);
    path.rsplit("::").next().unwrap_or(path)
}

fn save_column<C: Component + Persistent>(world: &mut World) -> Result<Vec<u8>, postcard::Error> {
    let mut rows = world.query::<&C>();
    postcard::to_stdvec(&rows.iter(world).collect::<Vec<_>>())
}

fn restore_column<C: Component<Mutability = Mutable> + Persistent>(
    world: &mut World,
    bytes: &[u8],
    how: &Resume<'_>,
) -> Result<(), String> {
    let saved: Vec<C> = postcard::from_bytes(bytes).map_err(|cause| cause.to_string())?;
    let mut rows = world.query::<&mut C>();
    if rows.iter(world).count() != saved.len() {
        return Err(String::from("its rows do not fit the fabric"));
    }
    for (mut row, value) in rows.iter_mut(world).zip(saved) {
        let built = std::mem::replace(&mut *row, value);
        row.resume(built, how);
    }
    Ok(())
}

fn save_resource<R: Resource + Persistent>(world: &mut World) -> Result<Vec<u8>, postcard::Error> {
    postcard::to_stdvec(world.resource::<R>())
}

fn restore_resource<R: Resource<Mutability = Mutable> + Persistent>(
    world: &mut World,
    bytes: &[u8],
    how: &Resume<'_>,
) -> Result<(), String> {
    let saved: R = postcard::from_bytes(bytes).map_err(|cause| cause.to_string())?;
    let mut resource = world.resource_mut::<R>();
    let built = std::mem::replace(&mut *resource, saved);
    resource.resume(built, how);
    Ok(())
}
