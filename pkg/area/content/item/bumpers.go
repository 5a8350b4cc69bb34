package item

import (
	"cmp"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/timeline"
)

// bumper returns the length of an intro or outro.
func bumper(f *media.File) time.Duration {
	switch {
	case f == nil:
		return 0
	case f.Type == media.Image:
		return timeline.Still
	}
	return seconds(*f)
}

// bumpers returns the length of the intro and the outro together, which is 0 if the item shows none.
func (r prompter) bumpers() time.Duration {
	if r.Kind != Video && r.Shape != "story clip" {
		return 0
	}
	return bumper(r.Brief.Intro) + bumper(r.Brief.Outro)
}

// around returns the whole seconds that the intro and the outro take of the length.
func (r prompter) around() int { return int((r.bumpers() + time.Second - 1) / time.Second) }

// between returns the length of the part between the intro and the outro.
func (r prompter) between() time.Duration {
	return time.Duration(*r.DurationSeconds)*time.Second - r.bumpers()
}

// usualLength returns the default length of the shape: longer if its intro and outro take more than half of it.
func (r Attempt) usualLength() int {
	bounds := lengths[r.Shape]
	return min(max(bounds.usual, 2*r.around()), bounds.most)
}

// checkBumpers refuses a length of which the intro and the outro take more than half.
func (r Attempt) checkBumpers() error {
	takes := r.bumpers()
	if takes == 0 || takes <= r.between() {
		return nil
	}
	about := fmt.Sprintf("the intro and the outro of the factory take %.1f seconds, and may take half of the %s at most",
		takes.Seconds(), cmp.Or(map[string]string{"story clip": "story"}[r.Shape], "video"))
	switch most := lengths[r.Shape].most; {
	case r.Given.Has(Script) && r.Kind == Video && r.Excerpt == nil:
		return errs.Invalid(r.scriptParam(), "takes about %d seconds to say; %s. Write more, or shorten them in the "+
			"settings of the factory", *r.DurationSeconds-r.around(), about)
	case 2*r.around() > most:
		return errs.Invalid("/factory_id", "names a factory that cannot make a %s: %s, which is %d seconds long at most. "+
			"Shorten them in its settings", r.Shape, about, most)
	default:
		return errs.Invalid("/duration_seconds", "must be at least %d: %s", 2*r.around(), about)
	}
}
