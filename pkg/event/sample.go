package event

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/id"
)

//go:embed samples.json
var samplesJSON []byte

// samples reads the table when it is first needed.
var samples = sync.OnceValue(func() map[Type]json.RawMessage {
	var m map[Type]json.RawMessage
	if err := json.Unmarshal(samplesJSON, &m); err != nil {
		panic(fmt.Sprintf("event: samples.json: %v", err)) // a test reads it
	}
	return m
})

// SampleObject gives an example of the resource that a type of event carries.
func SampleObject(t Type) json.RawMessage { return samples()[t] }

// Sample gives an example of an event. The same arguments give the same id.
func Sample(t Type, account, mode string, at time.Time) Event {
	return Event{
		ID: id.Derived(id.Event, at, string(t), account, mode), Type: t, CreatedAt: at, AccountID: account, Mode: mode,
		APIVersion: apiVersion, Data: Data{Object: SampleObject(t)},
	}
}
