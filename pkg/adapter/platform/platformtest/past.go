package platformtest

import (
	"context"
	"fmt"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// listsPastPosts lists the earlier posts of an account, with and without faults: each once, the latest first, with
// figures that are in the list or are read as those of own posts.
func (s Suite) listsPastPosts(ctx context.Context) error {
	f := s.New()
	defer f.Close()
	c := f.Adapter.Capabilities()
	reader, ok := f.Adapter.(platform.PastReader)
	if ok != (c.Past.Page > 0) {
		return fmt.Errorf("a PastReader: %v, with pages of %d posts", ok, c.Past.Page)
	}
	if !ok {
		return nil
	}
	seen, cursor := map[string]bool{}, ""
	last := f.Now()
	for pages := 0; pages == 0 || cursor != ""; pages++ {
		if pages > 20 {
			return fmt.Errorf("the list has no end")
		}
		posts, next, err := reader.PastPosts(ctx, f.Account, cursor)
		if err != nil {
			return err
		}
		for _, p := range posts {
			_, known := c.Kinds[p.Kind]
			if p.ID == "" || seen[p.ID] || p.Text == "" || p.At.After(last) || !known {
				return fmt.Errorf("the post %+v after one of %s", p, last)
			}
			if seen[p.ID], last = true, p.At; (len(p.Named()) > 0) != c.Past.Figures {
				return fmt.Errorf("the figures %v, and the list has some: %v", p.Named(), c.Past.Figures)
			}
			if m, err := f.Adapter.Metrics(ctx, f.Account, platform.Published{ID: p.ID}); !c.Past.Figures &&
				(err != nil || len(m.Named()) == 0) {
				return fmt.Errorf("the figures of %s: %v %w", p.ID, m.Named(), err)
			}
		}
		cursor = next
	}
	if len(seen) < 2 {
		return fmt.Errorf("%d posts", len(seen))
	}
	for _, fault := range []Fault{ServerError, RateLimited, Garbage} {
		before := f.Fake.Calls()
		f.Fake.Fail(before+1, fault)
		_, _, err := reader.PastPosts(ctx, f.Account, "")
		kind := platform.KindOf(err)
		later := kind == platform.Retry || kind == platform.Quota && fault == RateLimited
		if called := f.Fake.Calls() > before; called && (err == nil || !later) {
			return fmt.Errorf("%s: %w", fault, err)
		}
	}
	return nil
}
