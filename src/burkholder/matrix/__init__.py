"""Matrix prediction and completion: the paper's headline, dense and at the size of a real ratings stream."""
