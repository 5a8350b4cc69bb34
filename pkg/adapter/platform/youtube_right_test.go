package platform_test

import (
	"errors"
	"testing"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
	"github.com/content-automation/api/pkg/adapter/platform/youtube"
)

// A token that was granted without the right makes no call.
func TestCommentsNeedTheirRight(t *testing.T) {
	p := youtube.New(wire.Config{})
	a := platform.Account{Token: platform.Token{Scopes: []string{"https://www.googleapis.com/auth/youtube.upload"}}}
	_, read := p.Comments(t.Context(), a, platform.PublishedPost{ID: "v"}, "")
	_, written := p.Reply(t.Context(), a, platform.Reply{})
	for _, err := range []error{read, written, p.HideComment(t.Context(), a, platform.PublishedPost{}, "c", true),
		p.DeleteComment(t.Context(), a, platform.PublishedPost{}, "c")} {
		var e *platform.Error
		if !errors.As(err, &e) || e.Kind != platform.Reconnect || e.Code != platform.CodeMissingPermission {
			t.Errorf("got %v", err)
		}
	}
}
