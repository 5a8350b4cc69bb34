package event

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

//go:embed samples.json
var samplesJSON []byte

// samples reads the table when it is first needed.
var samples = sync.OnceValue(func() map[Type]json.RawMessage {
	var m map[Type]json.RawMessage
	if err := json.Unmarshal(samplesJSON, &m); err != nil {
		panic(fmt.Sprintf("event: samples.json: %v", err))
	}
	return m
})

// SampleObject returns an example of the resource that a type of event carries.
func SampleObject(t Type) json.RawMessage { return samples()[t] }

// Members returns the names of the members of the resource that a type of event carries, in alphabetical order.
func Members(t Type) []string {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(SampleObject(t), &object); err != nil {
		panic(fmt.Sprintf("event: sample of %s: %v", t, err)) // a test reads it
	}
	return slices.Sorted(maps.Keys(object))
}

// Sample returns an example of an event. Its id is a function of the arguments.
func Sample(t Type, o tenant.Owner, at time.Time) Event {
	return Event{
		ID: id.Derived(id.Event, at, string(t), string(o.Account), string(o.Mode)), Type: t,
		CreatedAt: resource.Instant(at), AccountID: o.Account, Mode: o.Mode,
		APIVersion: apiVersion, Data: Data{Object: SampleObject(t)},
	}
}

// sampleKind is the kind of a sample's item. The relay ignores it.
const sampleKind = "sample_event"

// NewSample makes the item of an example that is sent to one webhook. It is read like any event, but it is neither
// listed nor delivered by itself.
func NewSample(now time.Time, o tenant.Owner, t Type) (store.Item, error) {
	it, err := New(now, o, t, SampleObject(t), nil)
	it.Kind, it.Listed, it.Parent = sampleKind, store.Key{}, store.Key{}
	return it, err
}
