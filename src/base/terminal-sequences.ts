/** Sequences that set colours or move the cursor; titles and links; sets of characters. */
export const SEQUENCE =
  /\u001b(?:\[[0-?]{0,48}[ -/]{0,2}[@-~]|\][^\u0007\u001b]{0,2048}(?:\u0007|\u001b\\)|[()][0-9A-Z]|[=>78cDEHM])/g

/** Those of them that put the cursor, and so what follows, elsewhere. */
export const MOVES_CURSOR = /^\u001b(?:\[.*[^mK]|[DEHM])$/s
