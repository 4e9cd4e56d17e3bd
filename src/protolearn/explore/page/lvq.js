// What an LVQ classifier computes, from its own numbers.
