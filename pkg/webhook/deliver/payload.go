package deliver

import (
	"context"
	"sync"

	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/media"
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

// ref returns the reference of the event.
func (p *payload) ref() event.Ref { return event.RefOf(p.item) }
