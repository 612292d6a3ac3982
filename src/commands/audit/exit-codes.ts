/** What was checked is not what it should be: something was tampered with, or a proof proves nothing. */
export const EXIT_DIFFERS = 3
/** There is nothing to compare with, though that was asked for: nothing was kept of the log before. */
export const EXIT_NOTHING_KEPT = 4
