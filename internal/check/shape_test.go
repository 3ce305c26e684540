package check

import "testing"

func TestShapeOf(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"x://{a}", "x://{b}", true}, {"x://{a}/{b}", "x://{b}/{a}", true}, {"x://{a,b}", "x://{c,d}", true},
		{"x://{+a}", "x://{+b}", true}, {"x://{/a*}", "x://{/b*}", true}, {"x://{a:3}", "x://{b:3}", true},
		{"x://{a}", "x://{+a}", false}, {"x://{a:3}", "x://{a:4}", false}, {"x://{/a*}", "x://{/a}", false},
		{"x://{?a}", "x://{?b}", false}, {"x://{;a}", "x://{;b}", false}, {"x://a/{a}", "x://b/{a}", false},
		{"x://{a}", "x://{a,b}", false},
	} {
		if got := shapeOf(tt.a) == shapeOf(tt.b); got != tt.same {
			t.Errorf("%s and %s: got %v, %q and %q", tt.a, tt.b, got, shapeOf(tt.a), shapeOf(tt.b))
		}
	}
}

func TestCheckScheme(t *testing.T) {
	for template, want := range map[string]bool{
		"x:{a}": true, "git+x://{a}": true, "csv/{table}": false, "{a}": false, "{+a}": false, "1x:{a}": false, "/a:{b}": false, "": false,
	} {
		if err := CheckScheme(template); (err == nil) != want {
			t.Errorf("%s: got %v", template, err)
		}
	}
}
