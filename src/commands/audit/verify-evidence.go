// Checks an evidence file of Tracebook without its service and its code. The README beside it says how to run it, and what a file proves.
package main

import (
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"sort"
	"strings"
	"unicode/utf16"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

var (
	keyText    = regexp.MustCompile(`^[^+\pZ\p{Cc}\x{feff}]+\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}$`)
	signatures = regexp.MustCompile(`^(— [^+\pZ\p{Cc}\x{feff}]+ [A-Za-z0-9+/]+([AEIMQUYcgkosw048]=|[AQgw]==)?\n)+$`)
	// Ways to write points of small order, on which libraries do not agree.
	smallOrder = regexp.MustCompile(`^(0[01](00){30}|26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc|c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03|e[cde](ff){30})..$`)
	shaText    = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
	badPath    = regexp.MustCompile(`\x00|(^|/)\.{0,2}(/|$)`)
	aString    = regexp.MustCompile(`"(?:[^"\\]|\\.)*"(\s*:)?`)
	aLine      = regexp.MustCompile(`[^\n]*\n|[^\n]+`)
	space      = regexp.MustCompile(`[\t-\r\pZ\x{feff}]+`)
	replaced   = regexp.MustCompile(`\x{fffd}+`)
	word       = regexp.MustCompile(`[\pL\pN]{3}`)
	given      = flag.String("key", "", "the key of the log, as you know it from elsewhere")
	repo       = flag.String("repo", "", "a clone of the repository that has the commits")
	step       = "format"                // what is being checked: it fails if anything panics, also a wrong type or a place beyond a list's end
	taken      = map[string][][2]int64{} // the lines that stand in the file, by commit and path
	found      = map[any]int{}           // how many lines are in events, by session
	withheld   int                       // how many events have only a hash
	deleted    int                       // how many deletions are shown
)

func must(holds bool, format string, values ...any) {
	if !holds {
		panic(fmt.Sprintf(format, values...))
	}
}

// Objects of JSON. Its strings have U+FFFD for lone surrogates, as Go decodes them.
type object = map[string]any

func parse(text string) (value any) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	must(strings.ToValidUTF8(text, "") == text && json.Valid([]byte(text)) && decoder.Decode(&value) == nil, "it is not JSON in UTF-8")
	again, _ := json.MarshalIndent(value, "", "\t")
	// A value in so many lists and objects would be indented by as many tabs, and of two members with one name only one is left.
	must(!strings.Contains(string(again), "\n"+strings.Repeat("\t", 1001)) && members(text) == members(string(again)), "its JSON is nested deeper than 1,000, or has a member twice")
	return value
}

// How many members the objects of a JSON text have: the colons outside of its strings.
func members(text string) int { return strings.Count(aString.ReplaceAllString(text, "$1"), ":") }

func number(value any) int64 {
	found, _ := value.(json.Number).Int64()
	must(fmt.Sprint(found) == string(value.(json.Number)) && found >= 0 && found < 1<<53, "%.20q is not a whole number", value)
	return found
}

func hashes(texts ...any) (found []tlog.Hash) {
	for _, text := range texts {
		hash, err := tlog.ParseHash(text.(string))
		must(err == nil && hash.String() == text, "%.90q is not 32 bytes in base64", text)
		found = append(found, hash)
	}
	return found
}

// The tree of a checkpoint that the key has signed.
func open(checkpoint string, key note.Verifier) tlog.Tree {
	opened, err := note.Open([]byte(checkpoint), note.VerifierList(key))
	must(err == nil, "%v", err)
	lines, block := strings.Split(opened.Text, "\n"), checkpoint[len(opened.Text)+1:]
	must(signatures.MatchString(block) && strings.Count(block, "\n") == len(opened.Sigs)+len(opened.UnverifiedSigs), "it has a signature twice, or a malformed one")
	signature, _ := base64.StdEncoding.DecodeString(opened.Sigs[0].Base64)
	must(!smallOrder.MatchString(fmt.Sprintf("%x", signature[4:36])) && lines[0] == key.Name() && !strings.Contains(opened.Text, "\n\n"), "it is not a checkpoint of %s", key.Name())
	return tlog.Tree{N: number(json.Number(lines[1])), Hash: hashes(lines[2])[0]}
}

// Steps 2 and 3. Returns the five strings of each event, none for one that is withheld.
func readEvents(items []any, tree tlog.Tree) (events [][]any) {
	before, latest := int64(-1), map[any]int64{}
	for i, item := range items {
		step = fmt.Sprint("step 2, event ", i)
		index, event := number(item.(object)["index"]), []any(nil)
		entry, isShown := item.(object)["entry"]
		leaf, isWithheld := item.(object)["leaf"]
		must(index > before && isShown != isWithheld, "it is out of order, or has not one of entry and leaf")
		hash := tlog.RecordHash([]byte(fmt.Sprint(entry)))
		if before = index; isWithheld {
			hash = hashes(leaf)[0]
			withheld++
		}
		must(tlog.CheckRecord(hashes(item.(object)["proof"].([]any)...), tree.N, tree.Hash, index, hash) == nil, "its proof does not lead to the root of the checkpoint")
		if step = fmt.Sprint("step 3, event ", i); isShown {
			event = parse(entry.(string)).([]any)
			at, _, _, _ := number(parse(event[3].(string)).(object)["at"]), event[0].(string), event[2].(string), parse(event[4].(string))
			must(len(event) == 5 && at >= latest[event[1].(string)], "it is not five strings, or earlier than the one before it in its stream")
			latest[event[1]] = at
		}
		events = append(events, event)
	}
	return events
}

// The lines of a text as they are compared: without white space, and with one U+FFFD for all that is not UTF-8. That is replaced
// first: without the white space between them two bytes could be a character.
func compared(text string) (lines []string) {
	for _, line := range aLine.FindAllString(strings.ToValidUTF8(text, "\ufffd"), -1) {
		lines = append(lines, replaced.ReplaceAllString(space.ReplaceAllString(line, ""), "\ufffd"))
	}
	return lines
}

// The output of a command of git, nothing without a repository.
func git(command ...string) string {
	if *repo == "" {
		return ""
	}
	output, err := exec.Command("git", append([]string{"--no-replace-objects", "-C", *repo}, command...)...).Output()
	must(err == nil, "git %q: %v", command, err)
	return string(output)
}

// Step 5 for lines of a file of a commit. Returns the name that it has for git.
func checkLines(item object, sha string) string {
	path, start, end := item["path"].(string), number(item["start"]), number(item["end"])
	name := sha + ":" + path
	step = fmt.Sprintf("step 5, lines %d to %d of %q", start, end, name)
	must(!badPath.MatchString(path) && len([]rune(path)) <= 4096 && 1 <= start && start <= end, "there are no such lines")
	for _, other := range taken[name] {
		must(other[1] < start || end < other[0], "some of them stand there twice")
	}
	taken[name] = append(taken[name], [2]int64{start, end})
	return name
}

// Step 5 for a range of lines. Weak ones say nothing, and an event that is withheld may have any.
func checkRange(item object, session any, name string, events [][]any) {
	written, isWithheld, places := map[string]bool{}, false, item["events"].([]any)
	must(len(places) > 0 && (item["evidence"] == "replaced" || item["evidence"] == "run"), "it has no events, or no kind")
	for _, place := range places {
		event := events[number(place)]
		if isWithheld = isWithheld || event == nil; event == nil {
			continue
		}
		must(event[1] == "trace-"+session.(string), "it has an event of %q", event[1])
		for _, token := range aString.FindAllString(event[4].(string), -1) {
			var text string
			json.Unmarshal([]byte(token), &text) // none from the name of a member, which has its colon
			for _, line := range compared(text) {
				written[line], written[strings.TrimPrefix(line, "+")] = true, true
			}
		}
	}
	for n, file := number(item["start"]), compared(git("cat-file", "blob", name)); *repo != "" && n <= number(item["end"]); n++ {
		units := len(utf16.Encode([]rune(file[n-1])))
		isWeak := units < 8 || units > 4096 || !word.MatchString(file[n-1])
		must(isWeak || isWithheld || written[file[n-1]], "line %d is in none of its events", n)
		if !isWeak && written[file[n-1]] {
			found[session]++
		}
	}
}

func main() {
	flag.Parse()
	defer func() {
		if reason := recover(); reason != nil {
			fmt.Printf("REFUSED, %s: %v\n", step, reason)
			os.Exit(3)
		}
	}()
	must(flag.NArg() == 1, "give one file, after all options")
	flag.Visit(func(option *flag.Flag) { must(option.Value.String() != "", "--%s is empty", option.Name) })
	text, _ := os.ReadFile(flag.Arg(0)) // nothing is no JSON
	file := parse(string(text)).(object)
	log, key, whose := file["log"].(object), file["log"].(object)["key"].(string), "which nobody but the file has named"
	_, _ = number(file["madeAt"]), file["madeBy"].(string)
	must(file["format"] == "tracebook-evidence/1", "it has another format")
	if step = "step 1, checkpoint"; *given != "" {
		key, whose = *given, "which you have given"
	}
	verifier, err := note.NewVerifier(key)
	must(err == nil && keyText.MatchString(key), "%q is not a key", key)
	point, _ := base64.StdEncoding.DecodeString(strings.SplitN(key, "+", 3)[2]) // base64 may have plus signs, too
	must(!smallOrder.MatchString(fmt.Sprintf("%x", point[1:])), "%q is a key of small order", key)
	tree := open(log["checkpoint"].(string), verifier)
	must(log["origin"] == verifier.Name(), "the file has the origin %q", log["origin"])
	events, sessions, deletions := readEvents(file["events"].([]any), tree), file["sessions"].([]any), file["deletions"].([]any)
	for i, one := range sessions {
		step = fmt.Sprint("step 4, session ", i)
		session := one.(object)
		begins, stream := events[number(session["begins"])], "trace-"+session["traceId"].(string)
		id, _ := session["externalId"].(string), session["namespace"].(string)+session["agentId"].(string)
		must(begins == nil || begins[1] == stream && (begins[2] == "TraceCreated" || begins[2] == "HistoryErased") &&
			parse(begins[4].(string)).(object)["externalId"] == id, "it does not begin with this event")
	}
	for _, one := range file["commits"].([]any) {
		commit, sha := one.(object), one.(object)["sha"].(string)
		step = fmt.Sprintf("step 5, commit %q", sha)
		must(shaText.MatchString(sha) && taken[sha] == nil, "it is not the name of a commit, or there twice")
		must(*repo == "" || git("rev-parse", sha+"^{commit}") == sha+"\n", "it is not a commit, or not by its whole name")
		taken[sha] = [][2]int64{}
		repository, isThere := commit["repository"]
		must(!isThere || fmt.Sprintf("%T", repository) == "string", "its repository is not a string")
		for i, one := range append(commit["ranges"].([]any), commit["unknown"].([]any)...) {
			item := one.(object)
			if name := checkLines(item, sha); i < len(commit["ranges"].([]any)) {
				checkRange(item, sessions[number(item["session"])].(object)["traceId"], name, events)
			}
		}
	}
	if previous, isThere := log["previous"]; isThere {
		step = "step 6, previous checkpoint"
		older := open(previous.(object)["checkpoint"].(string), verifier)
		proof := hashes(previous.(object)["proof"].([]any)...)
		must(tlog.CheckTree(proof, tree.N, tree.Hash, older.N, older.Hash) == nil, "its proof does not lead to this one")
	}
	for i, one := range deletions {
		step = fmt.Sprint("step 7, deletion ", i)
		if event, stream := events[number(one.(object)["event"])], "trace-"+one.(object)["traceId"].(string); event != nil {
			must(event[1] == stream && event[2] == "TraceDeleted", "it is not this event")
			deleted++
		}
	}
	lines, counts := 0, []string{}
	for session, count := range found {
		lines, counts = lines+count, append(counts, fmt.Sprintf("%s (%d lines)", session, count))
	}
	sort.Strings(counts)
	fmt.Printf("these %d lines were in recorded calls of these %d sessions before this checkpoint: %s\n", lines, len(found), strings.Join(counts, ", "))
	fmt.Printf("%d events are withheld, %d sessions deleted; this holds if the key of the log is %s, %s\n", withheld, deleted, key, whose)
}
