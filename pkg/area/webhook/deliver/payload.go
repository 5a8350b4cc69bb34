package deliver

import (
	"context"
	"sync"

	"github.com/content-automation/api/pkg/area/webhook/endpoint"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
)

// payload is an event, rendered once for all attempts of a batch.
type payload struct {
	item store.Item
	once sync.Once
	body []byte
	err  error
}

// expired reports whether the event is no longer kept.
func (p *payload) expired() bool { return p.item.Kind == "" }

// render returns the body that is sent.
func (p *payload) render(ctx context.Context, signer *media.Signer) ([]byte, error) {
	p.once.Do(func() { p.body, p.err = event.Body(ctx, p.item, signer) })
	return p.body, p.err
}

// mayGo reports whether a webhook whose maker may read this gets the event. A sample is
// about nothing that the account has.
func (p *payload) mayGo(to endpoint.Reader) bool {
	return p.item.Kind != event.Kind || to.May(p.ref().Type)
}

// ref returns the reference of the event.
func (p *payload) ref() event.Ref { return event.RefOf(p.item) }
