// Package document writes what a command measured into a document of docs, in
// the place of what it wrote there the last time.
package document

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strings"
)

// Machine is what the figures of a document depend on.
type Machine struct {
	OS, Arch, Go string
	Cores        int
}

// ThisMachine is the one that this program runs on.
func ThisMachine() Machine {
	return Machine{runtime.GOOS, runtime.GOARCH, runtime.Version(), runtime.NumCPU()}
}

// String says it in words, for the end of a sentence.
func (m Machine) String() string {
	return fmt.Sprintf("a machine with %d cores (%s/%s) with %s", m.Cores, m.OS, m.Arch, m.Go)
}

// WrittenBy is the line after which a document has place for what a command writes.
func WrittenBy(command string) string { return "<!-- written by " + command + " -->\n" }

// end is the line before which that place ends.
const end = "<!-- end -->\n"

// Rewrite puts a new text into the place of a document that follows the line begin,
// and leaves everything around it as it is.
func Rewrite(path, begin, text string) error {
	was, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, found := bytes.Cut(was, []byte(begin))
	_, after, ended := bytes.Cut(rest, []byte(end))
	if !found || !ended {
		return fmt.Errorf("%s has no place for the text: the lines %q and %q", path, strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	var b bytes.Buffer
	b.Write(before)
	b.WriteString(begin + "\n" + text + "\n" + end)
	b.Write(after)
	return os.WriteFile(path, b.Bytes(), 0o644)
}
