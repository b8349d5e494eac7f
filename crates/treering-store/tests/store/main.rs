//! What a model directory promises, tested from outside: whole after every failure and every kill, never silently wrong.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod common;
mod damage;
mod errors;
mod faults;
mod hostile;
mod kill;
mod random;
mod round_trip;
mod tensors;
