package base_test

import (
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/base/id"
	"github.com/gofrs/uuid/v5"
	"pgregory.net/rapid"
)

// The vectors of version 0.3.0 of the specification.
func TestTypeIDsOfTheSpecification(t *testing.T) {
	for _, v := range []struct{ typeID, prefix, uuid string }{
		{"00000000000000000000000000", "", "00000000-0000-0000-0000-000000000000"},
		{"00000000000000000000000001", "", "00000000-0000-0000-0000-000000000001"},
		{"0000000000000000000000000a", "", "00000000-0000-0000-0000-00000000000a"},
		{"0000000000000000000000000g", "", "00000000-0000-0000-0000-000000000010"},
		{"00000000000000000000000010", "", "00000000-0000-0000-0000-000000000020"},
		{"7zzzzzzzzzzzzzzzzzzzzzzzzz", "", "ffffffff-ffff-ffff-ffff-ffffffffffff"},
		{"prefix_0123456789abcdefghjkmnpqrs", "prefix", "0110c853-1d09-52d8-d73e-1194e95b5f19"},
		{"prefix_01h455vb4pex5vsknk084sn02q", "prefix", "01890a5d-ac96-774b-bcce-b302099a8057"},
		{"pre_fix_00000000000000000000000000", "pre_fix", "00000000-0000-0000-0000-000000000000"},
	} {
		if got := id.Encode(v.prefix, uuid.Must(uuid.FromString(v.uuid))); got != v.typeID {
			t.Errorf("encode(%q, %s) = %s, want %s", v.prefix, v.uuid, got, v.typeID)
		}
		if prefix, u, ok := id.Decode(v.typeID); !ok || prefix != v.prefix || u.String() != v.uuid {
			t.Errorf("decode(%q) = %q, %s, %v", v.typeID, prefix, u, ok)
		}
	}
	for _, s := range []string{
		"PREFIX_00000000000000000000000000",
		"12345_00000000000000000000000000",
		"pre.fix_00000000000000000000000000",
		"préfix_00000000000000000000000000",
		"  prefix_00000000000000000000000000",
		"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijkl_00000000000000000000000000",
		"_00000000000000000000000000",
		"_",
		"prefix_1234567890123456789012345",
		"prefix_123456789012345678901234567",
		"prefix_1234567890123456789012345 ",
		"prefix_0123456789ABCDEFGHJKMNPQRS",
		"prefix_123456789-123456789-123456",
		"prefix_ooooooiiiiiiuuuuuuulllllll",
		"prefix_i23456789ol23456789oi23456",
		"prefix_123456789-0123456789-0123456",
		"prefix_8zzzzzzzzzzzzzzzzzzzzzzzzz",
		"_prefix_00000000000000000000000000",
		"prefix__00000000000000000000000000",
		"",
		"prefix_",
		"prefix_00041061050.3gg28a1_60t3gf",
	} {
		if prefix, u, ok := id.Decode(s); ok {
			t.Errorf("decode(%q) = %q, %s", s, prefix, u)
		}
	}
}

func TestTypeIDsAreReadAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prefix := rapid.StringMatching(`([a-z]([a-z_]{0,61}[a-z])?)?`).Draw(t, "prefix")
		u := uuid.UUID(rapid.SliceOfN(rapid.Byte(), uuid.Size, uuid.Size).Draw(t, "uuid"))
		if p, got, ok := id.Decode(id.Encode(prefix, u)); !ok || p != prefix || got != u {
			t.Errorf("%q, %s: %q, %s, %v", prefix, u, p, got, ok)
		}
	})
}

func TestAPrefixThatIsNotValidPanics(t *testing.T) {
	for _, prefix := range []string{"Fac", "_fac", "fac_", "f1", strings.Repeat("f", 64)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q has an id", prefix)
				}
			}()
			id.Encode(prefix, uuid.UUID{})
		}()
	}
}
