"""Learning ahead of time: Wherry's own choices (ahead), and which of the library's algorithms is fastest (library)."""
