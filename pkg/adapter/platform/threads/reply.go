package threads

import (
	"context"
	"net/url"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/graph"
)

const (
	// filling is the time between two looks at the container of a reply.
	filling = 5 * time.Second
	// mostBoxes bounds the containers of replies that are kept, and boxed the time for which they are.
	mostBoxes = 1000
	boxed     = time.Hour
)

// boxes are the containers of replies that Threads still fills, by reply. They save containers: without one, the next
// attempt makes another, which nobody sees.
type boxes struct {
	mu  sync.Mutex
	all map[string]box
}

// box is the container of a reply.
type box struct {
	id string
	at time.Time
}

// of returns the container of a reply, or an empty id.
func (b *boxes) of(reply string, now time.Time) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if kept := b.all[reply]; now.Sub(kept.at) < boxed {
		return kept.id
	}
	return ""
}

// keep keeps the container of a reply, or forgets it if the id is empty.
func (b *boxes) keep(reply, id string, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.all == nil {
		b.all = map[string]box{}
	}
	for key, kept := range b.all {
		if now.Sub(kept.at) >= boxed {
			delete(b.all, key)
		}
	}
	if id == "" || len(b.all) >= mostBoxes {
		delete(b.all, reply)
		return
	}
	b.all[reply] = box{id, now}
}

// Reply implements platform.Replier. A container is filled, which nobody sees. Once Threads has filled it, one call
// publishes it. Until then, the error is Retry.
func (p *Platform) Reply(ctx context.Context, a platform.Account, r platform.Reply) (string, error) {
	if !graph.Number(r.To.ID) {
		return "", platform.CommentGone()
	}
	key := a.ID + " " + r.Key
	box, err := p.box(ctx, a, r, key)
	if err != nil {
		return "", err
	}
	ready, err := p.Ready(ctx, a, box)
	switch {
	case platform.KindOf(err) == platform.Restart:
		p.replies.keep(key, "", p.Client.Now())
		return "", platform.Busy().Saying(graph.WordsOf(err)).Because(err) // nothing was published
	case err != nil:
		return "", err
	case !ready:
		return "", platform.Later(platform.CodePlatformUnavailable, "Threads still prepares the reply.").After(filling)
	}
	p.replies.keep(key, "", p.Client.Now())
	id, err := p.Graph.Create(ctx, a.Token.Access, "/"+a.ID+"/threads_publish", url.Values{"creation_id": {box}}, true)
	if platform.KindOf(err) == platform.Restart {
		return "", platform.Busy().Saying(graph.WordsOf(err)).Because(err) // nothing was published
	}
	return id, err
}

// box returns the container of a reply. It makes one if there is none.
func (p *Platform) box(ctx context.Context, a platform.Account, r platform.Reply, key string) (string, error) {
	if kept := p.replies.of(key, p.Client.Now()); kept != "" {
		return kept, nil
	}
	gone := refusals
	gone.Missing = platform.CommentGone
	form := url.Values{"media_type": {"TEXT"}, "text": {r.Text}, "reply_to_id": {r.To.ID}}
	made, err := graph.New(p.Client, p.Root, gone, graph.Number).Create(ctx, a.Token.Access, "/"+a.ID+"/threads", form,
		false)
	if err == nil {
		p.replies.keep(key, made, p.Client.Now())
	}
	return made, err
}
