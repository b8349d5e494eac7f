//! What networks are made of here: dense products, Adam, inputs, the frozen backbone and its contrastive training.

pub mod adam;
pub mod backbone;
pub mod classifier;
pub mod contrast;
pub mod dense;
pub mod inputs;
pub(crate) mod kernels;
mod lanes;
pub mod loss;
pub mod number;
pub mod pretrain;
pub mod session;
pub mod source;
pub mod spare;
mod views;
