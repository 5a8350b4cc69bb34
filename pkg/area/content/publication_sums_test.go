package content_test

import (
	"context"
	"testing"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/errs"
)

// summed are files whose objects have a hash.
type summed struct {
	files
	sum string
}

func (s summed) Sum(context.Context, string) (string, error) {
	if s.sum == "" {
		return "", errs.New(errs.NotFound, "The file does not exist.")
	}
	return s.sum, nil
}

// B2: a file that is stored with another content than its record says is not sent.
func TestB2AReplacedFileIsNotPublished(t *testing.T) {
	for name, c := range map[string]struct{ sum, state string }{
		"the same": {"recorded", item.PublicationPublished}, "another": {"another", item.PublicationFailed},
		"gone": {"", item.PublicationFailed},
	} {
		w := newPublicationWorld(t, "telegram")
		w.worker.Files = summed{files{9000}, c.sum}
		r := w.run(func(r *item.Record) { r.Files[0].SHA256 = "recorded" })
		if pub := r.Item.Publications[0]; pub.State != c.state {
			t.Errorf("%s: it is %s, %+v", name, pub.State, pub.Failure)
		}
	}
}
