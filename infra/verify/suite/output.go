package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// event is a line of go test -json.
type event struct {
	Action, Package, Test, Output string
}

// counter writes the output of a stage to its log, and counts the tests in it if it is that of go test -json.
// Subtests do not count.
type counter struct {
	log            io.Writer
	rest           []byte
	passed, failed int
}

// Write implements io.Writer.
func (c *counter) Write(p []byte) (int, error) {
	c.rest = append(c.rest, p...)
	for {
		line, rest, ok := bytes.Cut(c.rest, []byte("\n"))
		if !ok {
			break
		}
		c.count(line)
		c.rest = rest
	}
	return c.log.Write(p)
}

// end counts a last line without an end.
func (c *counter) end() { c.count(c.rest) }

func (c *counter) count(line []byte) {
	var e event
	if !bytes.HasPrefix(line, []byte("{")) || json.Unmarshal(line, &e) != nil || strings.Contains(e.Test, "/") {
		return
	}
	switch {
	case e.Action == "pass" && e.Test != "":
		c.passed++
	case e.Action == "fail" && e.Test != "":
		c.failed++
	}
}

// failures prints the output of a log that tells why its stage has failed: of tests and packages that have failed, or
// the end of a log that is not one of go test -json.
func failures(out io.Writer, name string) error {
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	output, failed := map[string][]string{}, []string{}
	var plain []string
	for line := range strings.SplitSeq(string(b), "\n") {
		var e event
		if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &e) != nil {
			plain = append(plain, line)
			continue
		}
		of := e.Package + " " + e.Test
		switch e.Action {
		case "output", "build-output":
			output[of] = append(output[of], e.Output)
		case "fail":
			failed = append(failed, of)
		}
	}
	for _, of := range failed {
		lines := output[of]
		fmt.Fprintf(out, "--- %s\n%s", of, strings.Join(lines[max(0, len(lines)-most):], ""))
	}
	if len(failed) == 0 || slices.ContainsFunc(plain, func(l string) bool { return l != "" }) {
		fmt.Fprintln(out, strings.Join(plain[max(0, len(plain)-most):], "\n"))
	}
	return nil
}

// most bounds the lines that are printed of one test.
const most = 60
