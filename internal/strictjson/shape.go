package strictjson

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
)

// shapes keeps, for each struct type met, the type behind each JSON key.
type shapes map[reflect.Type]map[string]reflect.Type

// field returns the type that key of an object decoded into t receives, nil for
// one that takes anything. Where t has no such key, near is one that differs
// only by case, if there is one.
func (s shapes) field(t reflect.Type, key string) (field reflect.Type, near string, known bool) {
	switch t.Kind() {
	case reflect.Map:
		return t.Elem(), "", true
	case reflect.Struct:
	default:
		return nil, "", true // a mismatch of kinds, which the decoder reports
	}
	fields, ok := s[t]
	if !ok {
		fields = map[string]reflect.Type{}
		collect(t, fields, map[reflect.Type]bool{})
		s[t] = fields
	}
	if field, ok := fields[key]; ok {
		return field, "", true
	}
	for name := range fields {
		if strings.EqualFold(name, key) {
			return nil, name, false
		}
	}
	return nil, "", false
}

// collect adds t's keys to fields, those of embedded structs first so that an
// outer one hides them.
func collect(t reflect.Type, fields map[string]reflect.Type, seen map[reflect.Type]bool) {
	if seen[t] {
		return
	}
	seen[t] = true
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if inner := indirect(f.Type); f.Anonymous && name == "" && inner.Kind() == reflect.Struct {
			collect(inner, fields, seen)
		}
	}
	for f := range t.Fields() {
		tag := f.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		embedded := f.Anonymous && name == "" && indirect(f.Type).Kind() == reflect.Struct
		if tag == "-" || embedded || !f.IsExported() {
			continue
		}
		if name == "" {
			name = f.Name
		}
		fields[name] = f.Type
		if strings.Contains(","+options+",", ",string,") {
			fields[name] = nil // a number in quotes: the decoder's to judge
		}
	}
}

func indirect(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// target strips pointers from t. Opaque means that the type decodes itself;
// an interface takes anything and becomes nil.
func target(t reflect.Type) (inner reflect.Type, opaque bool) {
	for t != nil {
		if decodesItself(t) || decodesItself(reflect.PointerTo(t)) {
			return indirect(t), true
		}
		switch t.Kind() {
		case reflect.Pointer:
			t = t.Elem()
		case reflect.Interface:
			return nil, false
		default:
			return t, false
		}
	}
	return nil, false
}

func decodesItself(t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[json.Unmarshaler]()) ||
		t.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// element is the type of the items of an array decoded into t.
func element(t reflect.Type) reflect.Type {
	if t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) {
		return t.Elem()
	}
	return nil
}

// holds reports whether the value that starts with c was looked into as a
// container of kind t.
func holds(t reflect.Type, c byte) bool {
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return c == '{'
	case reflect.Slice, reflect.Array:
		return c == '['
	}
	return false
}

// describe names what belongs in t in a person's words.
func describe(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number, 0 or more"
	default:
		return "a whole number"
	}
}
