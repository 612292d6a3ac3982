/** What was checked is not what it should be: something was tampered with, or a proof proves nothing. */
export const EXIT_DIFFERS = 3
