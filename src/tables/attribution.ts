import { erasedFrom } from './storage.ts'
import { tableOf } from './table.ts'

/*
 * What the calls of sessions wrote, for attribution. All hashes are keyed with the key of the namespace (`tracebook.attribution_keys`): nobody can
 * tell from one which text it stands for. No text of a line is stored.
 */

/**
 * What a call does to a file: a row for each. `ordinal` is that of the message, `nth` the place of the call among those of the message, `file` the
 * place of the file among those of the call. `at` is the time of the message. `identity` is the hash of the call's id, tool and arguments: copies of a
 * call have the same. `path` is a JSON literal, with `/` between its names; `whole` is the hash of the path if the call writes the whole file, else
 * null. `written` has the hashes of the lines that the call writes and the hash of the file's name, `replaced` those of the lines that it removes.
 */
export const writtenFilesTable = tableOf(
  'written_files',
  {
    trace_id: 'uuid not null',
    incarnation: 'int8 not null',
    ordinal: 'int4 not null',
    nth: 'int4 not null',
    file: 'int4 not null',
    at: 'int8 not null',
    identity: 'int8 not null',
    whole: 'int8',
    path: 'text collate "C" not null',
  },
  { constraint: 'primary key (trace_id, ordinal, nth, file)', storage: erasedFrom },
)

/** SQL for the columns with hashes, which have arrays of different lengths. Hashes cannot be compressed, and nothing needs statistics of them. */
export const hashColumns = `
  alter table written_files add written int8[] not null, add replaced int8[] not null;
  alter table written_files
    alter written set storage external, alter replaced set storage external,
    alter written set statistics 0, alter replaced set statistics 0, alter path set statistics 0;
  create index written_files_whole on written_files (trace_id, whole) where whole is not null;
  create index written_files_copies on written_files (identity) where whole is not null;`

/** Without a list of new entries: a question reads that list from end to end for each line. */
export const indexWritten =
  'create index written_files_lines on written_files using gin (written) with (fastupdate = off);'

/** The calls that show a file: of which file, and the hash of the call's id, by which its result is found. */
export const shownFilesTable = tableOf(
  'shown_files',
  {
    trace_id: 'uuid not null',
    path: 'int8 not null',
    ordinal: 'int4 not null',
    nth: 'int4 not null',
    call: 'int8 not null',
  },
  { constraint: 'primary key (trace_id, path, ordinal, nth)', storage: erasedFrom },
)

/** The name of the key with which the rows of a namespace were made. */
export const usedKeysTable = tableOf('used_keys', {
  namespace_id: 'uuid primary key',
  key: 'text collate "C" not null',
})

export const indexShown = 'create index shown_files_calls on shown_files (trace_id, call);'
