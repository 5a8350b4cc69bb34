package compose

import (
	"fmt"
	"io"
	"strings"

	"github.com/content-automation/api/pkg/media/compose/timeline"
)

// shot is a part of a scene with a view of its own. It begins with a hard cut.
type shot struct {
	// begin is the first frame, from the beginning of what is seen of the scene.
	begin int
	move  Move
}

const (
	leastShot  = 26 // the least length of a shot, in frames
	mostShots  = 4  // the greatest number of shots of a scene
	shotWindow = 18 // frames by which a cut may be moved to the beat of the voice
	perCuts    = 10 * timeline.FPS
	punch      = 0.8 // the visible part of a picture in a nearer shot
	detail     = 0.62
)

// views are the views of the shots after the first one of a picture that may be cropped: nearer, a detail, wide again.
var views = [][]Move{
	{{View{0.1, 0.1, punch}, View{0.12, 0.12, punch - 0.04}}, {View{0.08, 0.3, detail}, View{0.2, 0.3, detail}},
		Moves[2]},
	{{View{0.3, 0.1, detail}, View{0.2, 0.12, detail}}, {View{0.1, 0.1, punch}, View{0.08, 0.08, punch + 0.04}},
		Moves[0]},
}

// wholeViews are those of a picture that stays whole.
var wholeViews = []Move{{View{0.06, 0.06, Zoom}, View{0.05, 0.05, Zoom + 0.02}},
	{View{0, 0, 1}, View{0.02, 0.02, 0.96}}}

// cut divides the scenes into shots, so that pictures change as often as the video wants. The cuts between shots are
// where a caption begins: on the beat of the voice.
func (f *videoRun) cut(lengths []int) {
	begin := 0
	for n := range f.scenes {
		s := &f.scenes[n]
		first := Moves[n%len(Moves)]
		if s.whole {
			first = Centered[n%len(Centered)]
		}
		s.shots = []shot{{0, first}}
		count := min((lengths[n]*f.Cuts+perCuts/2)/perCuts, mostShots, lengths[n]/leastShot)
		for i := 1; i < count; i++ {
			at := f.beat(begin+lengths[n]*i/count) - begin
			last := s.shots[len(s.shots)-1].begin
			if at < last+leastShot || at > lengths[n]-leastShot {
				continue
			}
			move := wholeViews[(i-1)%len(wholeViews)]
			if !s.whole {
				set := views[n%len(views)]
				move = set[(i-1)%len(set)]
			}
			s.shots = append(s.shots, shot{at, move})
		}
		begin += lengths[n]
	}
}

// beat returns the frame near another at which a caption begins, or that one.
func (f *videoRun) beat(frame int) int {
	best := frame
	off := shotWindow + 1
	for _, c := range f.cues {
		at := timeline.Frames(c.From)
		if d := max(at-frame, frame-at); d < off {
			best, off = at, d
		}
	}
	return best / f.Quality.every() * f.Quality.every()
}

// shown returns the shots with their lengths, in frames of what is seen of a scene.
func (s scene) shown() (all []shot, lengths []int) {
	for i, one := range s.shots {
		if i > 0 {
			one.begin += s.before / 2
		}
		all = append(all, one)
		if i > 0 {
			lengths = append(lengths, one.begin-all[i-1].begin)
		}
	}
	return all, append(lengths, s.seen()-all[len(all)-1].begin)
}

// crop returns the filter that cuts a view out of frames of the size of the video, and enlarges it to that size.
func (f *videoRun) crop(v View) string {
	if v.Size >= 1 {
		return "null"
	}
	part := func(of int, size float64) int { return int(float64(of)*size) &^ 1 }
	return fmt.Sprintf("crop=%d:%d:%d:%d,scale=%d:%d:flags=bicubic,setsar=1", part(f.width, v.Size),
		part(f.height, v.Size), part(f.width, v.X), part(f.height, v.Y), f.width, f.height)
}

// cuts returns the filters that show count frames of a scene from the frame begin on in its shots. Each of them is a
// part of the frames with the filter of its view. n is the number of the input, which names the links. A still, which
// is one frame, is repeated for each shot.
func (f *videoRun) cuts(n int, s scene, begin, count int) string {
	shots, lengths := s.shown()
	every, fps := f.Quality.every(), f.Quality.fps()
	var parts, names, filters []string
	for i, one := range shots {
		from, to := max(one.begin-begin, 0)/every, min(one.begin+lengths[i]-begin, count)/every
		if to <= from {
			continue
		}
		in, out := fmt.Sprintf("[shot%d_%d]", n, i), fmt.Sprintf("[cut%d_%d]", n, i)
		view := one.move.From
		frames := fmt.Sprintf("trim=start_frame=%d:end_frame=%d", from, to)
		switch {
		case s.still:
			frames = fmt.Sprintf("%s,loop=loop=-1:size=1:start=0,trim=end_frame=%d", f.crop(view), to-from)
		case i == 0 || view.Size >= 1:
		default:
			frames += "," + f.crop(view)
		}
		names, parts = append(names, in), append(parts, out)
		filters = append(filters, fmt.Sprintf("%s%s,setpts=N/(%d*TB)%s", in, frames, fps, out))
	}
	return fmt.Sprintf("split=%d%s;%s;%sconcat=n=%d:v=1:a=0,setpts=N/(%d*TB),fps=%d", len(names),
		strings.Join(names, ""),
		strings.Join(filters, ";"), strings.Join(parts, ""), len(parts), fps, fps)
}

// feed writes count frames of the still of a scene, in its shots, from the frame begin of the scene on.
func (f *videoRun) feed(w io.Writer, still *Still, s scene, begin, count int) error {
	shots, lengths := s.shown()
	for i, one := range shots {
		from, to := max(one.begin, begin), min(one.begin+lengths[i], begin+count)
		if to <= from {
			continue
		}
		err := still.Write(w, f.width, f.height, one.move, from-one.begin, to-from, lengths[i])
		if err != nil {
			return err
		}
	}
	return nil
}
