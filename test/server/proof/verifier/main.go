// Checks the audit routes of a service with the packages of Go's checksum database, which know nothing of Tracebook.
// Reads what to check from standard input; prints the number of leaves, or what is wrong.
package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type proof struct {
	Entry      string
	Index      int64
	Size       int64
	Proof      []string
	Checkpoint string
}

type consistency struct {
	From, To int64
	Proof    []string
}

type task struct {
	Base          string
	Key           string
	Older         string
	Proofs        []proof
	Consistencies []consistency
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func get(url string) []byte {
	answer, err := http.Get(url)
	check(err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	check(err)
	if answer.StatusCode != 200 {
		log.Fatalf("%s: %s", url, answer.Status)
	}
	return body
}

func hashOf(text string) tlog.Hash {
	var hash tlog.Hash
	bytes, err := base64.StdEncoding.DecodeString(text)
	check(err)
	if len(bytes) != len(hash) {
		log.Fatalf("not a hash: %s", text)
	}
	copy(hash[:], bytes)
	return hash
}

func hashesOf(texts []string) []tlog.Hash {
	hashes := make([]tlog.Hash, len(texts))
	for i, text := range texts {
		hashes[i] = hashOf(text)
	}
	return hashes
}

// The tree of a signed checkpoint.
func treeOf(checkpoint string, verifiers note.Verifiers) tlog.Tree {
	opened, err := note.Open([]byte(checkpoint), verifiers)
	check(err)
	lines := strings.Split(opened.Text, "\n")
	size, err := strconv.ParseInt(lines[1], 10, 64)
	check(err)
	return tlog.Tree{N: size, Hash: hashOf(lines[2])}
}

type tiles struct{ base string }

func (tiles) Height() int                     { return 8 }
func (tiles) SaveTiles([]tlog.Tile, [][]byte) {}
func (t tiles) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	found := make([][]byte, len(wanted))
	for i, tile := range wanted {
		found[i] = get(t.base + "/v1/audit/" + strings.Replace(tile.Path(), "tile/8/", "tile/", 1))
	}
	return found, nil
}

func main() {
	var given task
	check(json.NewDecoder(os.Stdin).Decode(&given))
	verifier, err := note.NewVerifier(given.Key)
	check(err)
	verifiers := note.VerifierList(verifier)
	tree := treeOf(string(get(given.Base+"/v1/audit/checkpoint")), verifiers)
	reader := tlog.TileHashReader(tree, tiles{given.Base})

	// Every leaf, each of them held against the root of the checkpoint.
	indexes := make([]int64, tree.N)
	for i := range indexes {
		indexes[i] = tlog.StoredHashIndex(0, int64(i))
	}
	leaves, err := reader.ReadHashes(indexes)
	check(err)

	for _, one := range given.Proofs {
		of := treeOf(one.Checkpoint, verifiers)
		hash := tlog.RecordHash([]byte(one.Entry))
		check(tlog.CheckRecord(hashesOf(one.Proof), of.N, of.Hash, one.Index, hash))
		if leaves[one.Index] != hash {
			log.Fatalf("leaf %d is another one", one.Index)
		}
	}
	for _, one := range given.Consistencies {
		older, err := tlog.TreeHash(one.From, reader)
		check(err)
		newer, err := tlog.TreeHash(one.To, reader)
		check(err)
		check(tlog.CheckTree(hashesOf(one.Proof), one.To, newer, one.From, older))
	}
	older := treeOf(given.Older, verifiers)
	proof, err := tlog.ProveTree(tree.N, older.N, reader)
	check(err)
	check(tlog.CheckTree(proof, tree.N, tree.Hash, older.N, older.Hash))
	fmt.Println(tree.N)
}
