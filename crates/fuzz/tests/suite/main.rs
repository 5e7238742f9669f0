//! What readers make of inputs from outside: captures that are damaged, and the inputs in `corpus/`.

mod damage;
mod replay;
