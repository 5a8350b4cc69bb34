package threads

import (
	"context"
	"net/url"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/graph"
)

// filling is the time between two looks at the container of a reply.
const filling = 5 * time.Second

// Reply implements platform.Replier. A container is filled, which nobody sees. Once Threads has filled it, one call
// publishes it. Until then, the error is Retry, and the next attempt gets the container from r.Kept.
func (p *Platform) Reply(ctx context.Context, a platform.Account, r platform.Reply) (string, error) {
	if !graph.Number(r.To.ID) {
		return "", platform.CommentGone()
	}
	if r.Kept == nil {
		r.Kept = new(platform.Handle)
	}
	box, err := p.box(ctx, a, r)
	if err != nil {
		return "", err
	}
	ready, err := p.Ready(ctx, a, box)
	switch {
	case platform.KindOf(err) == platform.Restart:
		*r.Kept = ""
		return "", platform.Busy().Saying(graph.WordsOf(err)).Because(err) // nothing was published
	case err != nil:
		return "", err
	case !ready:
		return "", platform.Later(platform.CodePlatformUnavailable, "Threads still prepares the reply.").After(filling)
	}
	*r.Kept = ""
	id, err := p.Graph.Create(ctx, a.Token.Access, "/"+a.ID+"/threads_publish", url.Values{"creation_id": {box}}, true)
	if platform.KindOf(err) == platform.Restart {
		return "", platform.Busy().Saying(graph.WordsOf(err)).Because(err) // nothing was published
	}
	return id, err
}

// box returns the container of a reply. It makes one if there is none.
func (p *Platform) box(ctx context.Context, a platform.Account, r platform.Reply) (string, error) {
	if box := string(*r.Kept); graph.Number(box) {
		return box, nil
	}
	gone := refusals
	gone.Missing = platform.CommentGone
	form := url.Values{"media_type": {"TEXT"}, "text": {r.Text}, "reply_to_id": {r.To.ID}}
	made, err := graph.New(p.Client, p.Root, gone, graph.Number).Create(ctx, a.Token.Access, "/"+a.ID+"/threads", form,
		false)
	*r.Kept = platform.Handle(made)
	return made, err
}
