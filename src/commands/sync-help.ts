import { clientEnvironment } from './client-environment.ts'

/** What `tracebook sync --help` tells beside the options. */
export const syncHelp = `
Examples:
  tracebook sync                              # all agents' sessions
  tracebook sync --dry-run                    # only name what would be sent, and where
  tracebook sync --namespace team ~/.codex    # some of them, for a team
  tracebook sync --visibility public one.jsonl
                                              # publish one; asks first, and prints its link
  tracebook sync --watch                      # go on, until Ctrl-C
  tracebook sync --json | jq 'select(.type == "problem")'

Uploads what is new since the last run; when nothing is new, nothing is written to the
server. Paths are session files, or folders that are searched with all folders below.
Without paths: where Claude Code, Codex, Copilot CLI, Cursor, Gemini CLI, opencode and pi
keep their sessions; "tracebook agents" shows what is there. Links in a folder that is
searched are not followed: name the file or folder that is meant.

A new trace is private unless --visibility or a rule says otherwise. A trace that exists keeps
its visibility; --visibility changes it, also when the session itself has not changed.
A session whose trace was deleted on the service is left alone, whatever becomes of its file, and on all
your machines; --force uploads it again. --dry-run knows only of what earlier runs were told.

Rules say where the sessions of a project go, who may read new traces, and what is never sent.
The first of these that says something counts:
  the command line             --namespace, --visibility
  git config of the repository git config tracebook.namespace acme
                               git config tracebook.visibility private|direct|public
                               git config tracebook.never true
  tracebook.json in the configuration folder, for projects by their paths:
                               {"exclude": ["~/clients"],
                                "projects": [{"path": "~/work", "namespace": "acme"}]}
  .tracebook.json in the project or in a folder above, up to the root of its repository:
                               {"namespace": "acme", "visibility": "direct", "never": false,
                                "exclude": ["packages/billing", "**/scratch"]}
  git config --global          as above
What restricts in a .tracebook.json always holds: never, exclude, and a visibility that is not
public. Where it names another namespace, you are asked whether you agree: it came with the project.
Before anything becomes public, you are asked too, and shown what would be seen. Where nobody can be
asked, such sessions are held, and the exit code is 2; --yes agrees to all of it.

Ctrl-C ends it: what is on its way arrives, and the same command goes on where it stopped. A
server that is away is waited for two minutes. A line that is no JSON object, such as two that a
crash has glued together, is skipped and told once; with --strict that run ends with 1. A message that
the server refuses, and a file of which no line is understood, are told once, too, and that run ends
with 1, later ones do not. --force tells of all of them again.

With --watch it goes on until Ctrl-C, and uploads each new line of a session within two seconds, also
of agents that are installed later. "tracebook watch install" has the system do that.

Secrets (keys, tokens, passwords, the values of .env files) are taken out before anything is sent:
[redacted:<rule>] takes their place. What was found is reported without its value, by rule and place,
with a hash: one that is no secret is let through once its hash is a line of the file allowed-secrets
in the configuration folder. --no-redact sends all as it is.
A value may be sent before a later line of the session tells that it is a secret. It is taken out of the
trace then, but the history of the trace keeps it: the run says so once and ends with 1. "tracebook rm ID",
then "tracebook sync --force" with the session's file, erases it.

With --json, stdout holds one JSON document a line:
  {"type":"start","server","namespace","files","bytes"}
  {"type":"connection","state","message"}
      state: out of reach, busy, silent, back; replaced: the service was restored from a backup,
      or is another one, and gets again what it lacks
  {"type":"problem","kind","file","line"?,"externalId"?,"title"?,"message"}
      kind: line_skipped, none_understood, message_left_out, session_failed, unreadable,
      secret_in_history, state_failed (with --watch: the file cannot be written, all waits)
  {"type":"notice","file","externalId"?,"title"?,"message"}
      for example: stored under another id, deleted on the service
  {"type":"redaction","file","externalId"?,"where","rule","hash"}
      a secret that was taken out of a message, or of the trace's fields
  {"type":"session","file","externalId"?,"status","messages","new","updated","title"?,
   "project"?,"namespace"?,"visibility"?,"published"?,"why"?}
      status: synced, unchanged, empty, deleted (on the service: left alone), failed, excluded (by a rule), held (until you agree)
      published: true where its trace has become public
  {"type":"not_sent","status","why","sessions"}
      how many sessions are excluded or held for one reason
  {"type":"stopping","message"}
      the run was interrupted, and waits for what is on its way
  {"type":"summary","dryRun","synced","unchanged","empty","deleted","excluded","held","failed",
   "messages","new","updated","skippedLines","leftOutMessages","redacted","exposed",
   "stopped"?,"exitCode"}
      the last one
  with --watch there is no summary, but
  {"type":"watching","sessions","folders"}        all that was there at first has been uploaded
  {"type":"folders","isWatched","everyMs"}        whether the system tells of all changes; else folders are searched
  {"type":"error","message","exitCode"}   instead, when the run could not begin

${clientEnvironment}

Exit codes:
  0  all is well
  1  something failed, or was left out for good for the first time (a message, a session that is not
     understood; with --strict a line), or a secret was found that had been sent before
  2  wrong usage, not logged in, or something needs your agreement
  130, 143  ended by Ctrl-C or SIGTERM; with --watch that is 0`
