/* Stands in for an accelerator's run-time library, which Wherry knows by its name alone. */
int wherry_stands_in_for_an_accelerator = 1;
