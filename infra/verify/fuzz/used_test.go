package fuzz

import (
	"regexp"
	"testing"

	"github.com/content-automation/api/infra/measure/metered"
)

var shownKind = regexp.MustCompile(`"kind":"([a-z_]+)"`)

// TestAUsedAccountFitsTheDocument reads all lists of an account that has generated and published something of each
// kind, and each resource in them.
func TestAUsedAccountFitsTheDocument(t *testing.T) {
	p := newPlan(t)
	all := newResult()
	b := &batch{plan: p, result: &all, maker: &maker{doc: p.doc, rng: newRand(p.seed, 1), more: usualMore}}
	if err := b.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.world.Close(t.Context()) }()
	kinds := map[string]bool{}
	read := func(op *operation, r metered.Request) {
		c, err := newCall(op, r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := b.send(t.Context(), c)
		if err != nil {
			t.Errorf("%s: %v", c, err)
		}
		for _, found := range shownKind.FindAllStringSubmatch(body, -1) {
			kinds[found[1]] = true
		}
	}
	for _, op := range p.doc.operations {
		if op.Method != "GET" {
			continue // it changes what others read
		}
		base, err := b.base(t.Context(), op.OperationID)
		if err != nil {
			t.Fatal(err)
		}
		read(op, base)
		if len(op.prefixes) == 1 {
			for _, id := range b.maker.ids[op.prefixes[0]] {
				base.ID = id
				read(op, base)
			}
		}
	}
	if err := b.readEvents(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"carousel", "video", "story", "music_clip", "post"} {
		if !kinds[kind] {
			t.Errorf("no %s was read", kind)
		}
	}
	for _, failure := range all.failures {
		t.Error(failure)
	}
}
