/** Sequences that set colours or move the cursor; titles and links; sets of characters. */
export const SEQUENCE =
  /\u001b(?:\[[0-?]{0,48}[ -/]{0,2}[@-~]|\][^\u0007\u001b]{0,2048}(?:\u0007|\u001b\\)|[()][0-9A-Z]|[=>78cDEHM])/g
