package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSimulatedExperimentsAreRarelyWrong(t *testing.T) {
	for _, test := range tests {
		for _, one := range worlds {
			none := design{arms: 2, posts: 60, every: 30, world: one.world, test: test}.many(60)
			if part := of(none, func(r result) bool { return r.decided }); part > 0.14 {
				t.Errorf("%s, %s: %.3f of the factories without an effect have a winner", test, one.name, part)
			}
		}
	}
	all := design{lift: 3, arms: 2, posts: 200, every: 50, equal: true}.many(10)
	if part := of(all, func(r result) bool { return r.right }); part < 0.9 {
		t.Errorf("the right arm wins in %.1f", part)
	}
}

func TestTheTablesAreReplaced(t *testing.T) {
	name := filepath.Join(t.TempDir(), "learning.md")
	if err := os.WriteFile(name, []byte("before\n"+begin+"an earlier table\n"+end+"after\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var table bytes.Buffer
	writeTables(&table, 2, 1)
	if err := replace(name, table.Bytes()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if s := string(text); !strings.HasPrefix(s, "before\n"+begin+"2 factories") || !strings.HasSuffix(s, end+"after\n") ||
		strings.Contains(s, "earlier") {
		t.Errorf("%s", s)
	}
	if err := replace(os.DevNull, nil); err == nil {
		t.Error("a document without a place is taken")
	}
}
