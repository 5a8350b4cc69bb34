package publication

import (
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/record/testclock"
)

// aged returns the time that a post is older than the real clock says. A post that the clock of a sandbox has published
// at its planned time counts from that time.
func aged(c testclock.Clock, r *item.Record, pub *item.Publication) time.Duration {
	if pub.PublishedAt == nil {
		return 0
	}
	after := c.Since(pub.PublishedAt.Time)
	if r.Item.PublishAt == nil {
		return after
	}
	early, all := r.Item.PublishAt.Sub(pub.PublishedAt.Time), c.Ahead()
	if early <= 0 || all-after < early { // it was published at its time, or before it by a call
		return after
	}
	return all - early
}
