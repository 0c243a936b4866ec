# make -f live.mk: liblive.a, the kernel with what replaces it as it runs (live.h), and try, which tries what is new.
# make -f live.mk TO=FOLDER deliver (of tileflow tune --serve): this folder's kernel becomes a new version for programs
# that were linked with FOLDER/liblive.a, compiled as they were.
live: liblive.a try live.flags
TO ?= .
-include $(TO)/live.flags
include Makefile
ANY ?= $(ALL)
HEADER = $(if $(wildcard network.h),network.h,kernel.h)
PIC = $(CC) $(ALL) -fPIC -fvisibility=hidden -MMD

liblive.a: $(OBJECTS) live.o live_entry.o
	$(AR) rcs $@ $(OBJECTS) live.o live_entry.o
live.o: live.c live.h $(HEADER)
	$(CC) $(ANY) -std=gnu17 -c -o $@ live.c
live_entry.o: live_entry.c live.h $(HEADER)
	$(CC) $(ANY) -c -o $@ live_entry.c
try: try.c live.h live_tensors.h $(HEADER) live_entry.o $(OBJECTS)
	$(CC) $(ANY) -o $@ try.c live_entry.o $(OBJECTS) $(LIBS) -ldl
live.flags:
	printf 'CC = %s\nCFLAGS = %s\nOPENMP = %s\n' '$(CC)' '$(CFLAGS)' '$(OPENMP)' >$@

%.pic.o: %.c
	$(PIC) -c -o $@ $<
live_entry.pic.o: live_entry.c
	$(PIC) -DLIVE_NEXT -c -o $@ live_entry.c
-include $(wildcard *.pic.d)
PICS = $(OBJECTS:.o=.pic.o)
next.so: $(PICS) live_entry.pic.o
	$(CC) -shared -Wl,-Bsymbolic $(CFLAGS) $(OPENMP) -o $@ $(PICS) live_entry.pic.o $(LIBS)
# Whether the program's own trial finds it right; and the bench of what is in it.
tried: next.so
	$(TO)/try ./next.so
	$(CC) $(ANY) -o bench bench.c $(PICS) $(LIBS)
# Under another name first: whoever looks finds the old one, or all of the new one.
deliver: next.so
	cp next.so $(TO)/.next.$$$$ && mv -f $(TO)/.next.$$$$ $(TO)/next.so
.PHONY: live tried deliver
