package resource

import (
	"context"
	"strings"
	"sync"

	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

// Concern is what a call concerns: the factory, the profile and the kind of content of what it reads and makes. A
// member is empty if there is none, or if there are several.
type Concern struct {
	FactoryID string
	ProfileID tenant.Profile
	Kind      string
}

// note collects the concern of a call. What it makes counts more than what it reads on the way, such as an item that
// another one retells.
type note struct {
	mu     sync.Mutex
	values [3]noted
}

// noted is a member of a concern.
type noted struct {
	value         string
	made, several bool
}

func (n *noted) add(value string, made bool) {
	switch {
	case value == "" || n.made && !made:
	case n.value == "" || made && !n.made:
		*n = noted{value: value, made: made}
	case n.value != value:
		n.several = true
	}
}

type noteKey struct{}

// WithConcern returns a context in which the concern of a call is noted.
func WithConcern(ctx context.Context) context.Context {
	return context.WithValue(ctx, noteKey{}, &note{})
}

// ConcernOf returns the concern of the call of a context. It is empty if the context is of none.
func ConcernOf(ctx context.Context) Concern {
	n, ok := ctx.Value(noteKey{}).(*note)
	if !ok {
		return Concern{}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	var v [3]string
	for i, one := range n.values {
		if !one.several {
			v[i] = one.value
		}
	}
	return Concern{v[0], tenant.Profile(v[1]), v[2]}
}

// Makes notes what the call makes, if the context is of a call.
func Makes(ctx context.Context, c Concern) { add(ctx, c, true) }

// Reads notes items that the call reads, if the context is of a call. Find and FindAll note what they find.
func Reads(ctx context.Context, items ...store.Item) {
	for _, it := range items {
		add(ctx, concernOf(it), false)
	}
}

func add(ctx context.Context, c Concern, made bool) {
	n, ok := ctx.Value(noteKey{}).(*note)
	if !ok {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for i, value := range []string{c.FactoryID, string(c.ProfileID), c.Kind} {
		n.values[i].add(value, made)
	}
}

// concernOf returns the concern of an item of the table, by its keys and filters.
func concernOf(it store.Item) Concern {
	c := Concern{ProfileID: it.Profile}
	parent := it.Parent.PK[strings.LastIndexByte(it.Parent.PK, '#')+1:]
	for _, value := range []string{it.PK, it.Filters["factory"], parent} {
		if id.Valid(id.Factory, value) {
			c.FactoryID = value
		}
	}
	switch it.Kind {
	case "content_item", "generation":
		c.Kind = it.Filters["kind"]
	}
	return c
}
