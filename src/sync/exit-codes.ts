/** All is well; something failed or was skipped for good; wrong usage, or not logged in. */
export const exitCodes = { ok: 0, incomplete: 1, usage: 2 } as const
