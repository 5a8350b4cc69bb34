package bluesky

import (
	"context"
	"net/http"
	"strings"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// Delete implements platform.Deleter. The posts of a thread, and the first comment after them, have keys
// that follow each other. The deletion of a record that does not exist succeeds.
func (p *Platform) Delete(ctx context.Context, a platform.Account, post platform.Placed) error {
	first := post.ID[strings.LastIndexByte(post.ID, '/')+1:]
	for n := range max(post.Parts, 1) + 1 {
		call := p.Call(http.MethodPost, "com.atproto.repo.deleteRecord", a.Token.Access)
		call.JSON = map[string]string{"repo": a.ID, "collection": collection, "rkey": following(first, n)}
		if err := p.Send(ctx, call, nil); err != nil {
			return err
		}
	}
	return nil
}
