/* Reserved words: those of C and C++, and of C's and POSIX's library. */
#include <string.h>

#include "codegen/ir/names.h"

/* Keywords up to C23 and C++26, and lower-case macros that compilers or the headers of C17 and
 * POSIX.1-2017 define. */
static const char *const words[] = {
    " AF_DECnet L_ctermid L_cuserid L_tmpnam PF_DECnet P_tmpdir alignas alignof and and_eq arm asm "
    "atomic_cancel atomic_commit ",
    " atomic_noexcept auto basename bitand bitor bool break case catch char char16_t char32_t "
    "char8_t class co_await co_return co_yield ",
    " compl complex concept const const_cast consteval constexpr constinit continue "
    "contract_assert d_fileno decltype default delete do ",
    " double dynamic_cast else enum errno explicit export extern false far float for fortran "
    "friend goto hpux i386 if imaginary inline ",
    " int linux long math_errhandling mips mutable namespace near new noexcept noreturn not not_eq "
    "nullptr operator or or_eq private ",
    " protected public reflexpr register reinterpret_cast requires restrict return s6_addr s_addr "
    "sa_handler sa_sigaction sched_priority ",
    " short si_addr si_addr_lsb si_arch si_band si_call_addr si_fd si_int si_lower si_overrun "
    "si_pid si_pkey si_ptr si_status si_stime ",
    " si_syscall si_timerid si_uid si_upper si_utime si_value sigev_notify_attributes "
    "sigev_notify_function signed sizeof sparc st_atime ",
    " st_ctime st_mtime static static_assert static_cast stderr stdin stdout struct sun switch "
    "synchronized template this thread_local ",
    " throw true try typedef typeid typename typeof typeof_unqual union unix unsigned using vax "
    "virtual void volatile wchar_t while xor ",
    " xor_eq ",
};

/* Functions, variables and types of the headers of C17 and POSIX.1-2017; names of CMake's own
 * targets, and of libraries that are linked. */
static const char *const library_a_m[] = {
    " a64l abort abs accept accept4 access acos acosf acosh acoshf acoshl acosl aio_cancel "
    "aio_error aio_fsync aio_read aio_return ",
    " aio_suspend aio_write alarm aligned_alloc all alloca alphasort asctime asctime_r asin asinf "
    "asinh asinhf asinhl asinl asprintf assert ",
    " at_quick_exit atan atan2 atan2f atan2l atanf atanh atanhf atanhl atanl atexit atof atoi atol "
    "atoll atomic_flag_clear ",
    " atomic_flag_clear_explicit atomic_flag_test_and_set atomic_flag_test_and_set_explicit "
    "atomic_signal_fence atomic_thread_fence basename ",
    " bcmp bcopy bind blas bsearch btowc bzero c c16rtomb c32rtomb cabs cabsf cabsl cacos cacosf "
    "cacosh cacoshf cacoshl cacosl call_once ",
    " calloc carg cargf cargl casin casinf casinh casinhf casinhl casinl catan catanf catanh "
    "catanhf catanhl catanl catclose catgets catopen ",
    " cbrt cbrtf cbrtl ccos ccosf ccosh ccoshf ccoshl ccosl ceil ceilf ceill cexp cexpf cexpl "
    "cfgetispeed cfgetospeed cfsetispeed cfsetospeed ",
    " chdir chmod chown cimag cimagf cimagl clean clearerr clock clock_getcpuclockid clock_getres "
    "clock_gettime clock_nanosleep clock_settime ",
    " clog clogf clogl close closedir closelog cnd_broadcast cnd_destroy cnd_init cnd_signal "
    "cnd_timedwait cnd_wait confstr conj conjf conjl ",
    " connect copysign copysignf copysignl cos cosf cosh coshf coshl cosl cpow cpowf cpowl cproj "
    "cprojf cprojl creal crealf creall creat csin ",
    " csinf csinh csinhf csinhl csinl csqrt csqrtf csqrtl ctan ctanf ctanh ctanhf ctanhl ctanl "
    "ctermid ctime ctime_r daylight depend difftime ",
    " dirfd dirname div dl dlclose dlerror dlopen dlsym dprintf drand48 drem dup dup2 dup3 "
    "duplocale edit_cache endgrent endhostent endnetent ",
    " endprotoent endpwent endservent endutxent environ erand48 erf erfc erfcf erfcl erff erfl "
    "errno execl execle execlp execv execve execvp ",
    " exit exp exp10 exp2 exp2f exp2l expf expl expm1 expm1f expm1l fabs fabsf fabsl faccessat "
    "fchdir fchmod fchmodat fchown fchownat fclose ",
    " fcntl fd_set fdatasync fdim fdimf fdiml fdopen fdopendir feclearexcept fegetenv "
    "fegetexceptflag fegetround feholdexcept feof ",
    " feraiseexcept ferror fesetenv fesetexceptflag fesetround fetestexcept feupdateenv fexecve "
    "fflush ffs fgetc fgetpos fgets fgetwc fgetws ",
    " fileno finite flockfile floor floorf floorl fma fmaf fmal fmax fmaxf fmaxl fmemopen fmin "
    "fminf fminl fmod fmodf fmodl fmtmsg fnmatch ",
    " fopen fork fpathconf fpclassify fprintf fputc fputs fputs_unlocked fputwc fputws fread free "
    "freeaddrinfo freelocale freopen frexp ",
    " frexpf frexpl fscanf fseek fseeko fsetpos fstat fstatat fstatvfs fsync ftell ftello ftok "
    "ftruncate ftrylockfile ftw funlockfile ",
    " futimens fwide fwprintf fwrite fwscanf gai_strerror gamma gcc getaddrinfo getc getc_unlocked "
    "getchar getchar_unlocked getcwd getdate ",
    " getdelim getegid getenv geteuid getgid getgrent getgrgid getgrgid_r getgrnam getgrnam_r "
    "getgroups gethostbyaddr gethostbyname ",
    " gethostent gethostid gethostname getitimer getline getlogin getlogin_r getnameinfo "
    "getnetbyaddr getnetbyname getnetent getopt ",
    " getpeername getpgid getpgrp getpid getppid getpriority getprotobyname getprotobynumber "
    "getprotoent getpwent getpwnam getpwnam_r ",
    " getpwuid getpwuid_r getrandom getrlimit getrusage gets getservbyname getservbyport "
    "getservent getsid getsockname getsockopt getsubopt ",
    " gettimeofday getuid getutxent getutxid getutxline getwc getwchar glob globfree gmtime "
    "gmtime_r gomp grantpt h_errno hcreate hdestroy ",
    " help hsearch htonl htons hypot hypotf hypotl iconv iconv_close iconv_open if_freenameindex "
    "if_indextoname if_nameindex if_nametoindex ",
    " ilogb ilogbf ilogbl imaxabs imaxdiv index inet_addr inet_lnaof inet_makeaddr inet_netof "
    "inet_network inet_ntoa inet_ntop inet_pton ",
    " initstate insque install int isalnum isalnum_l isalpha isalpha_l isascii isatty isblank "
    "isblank_l iscntrl iscntrl_l isdigit isdigit_l ",
    " isfinite isgraph isgraph_l isgreater isgreaterequal isinf isless islessequal islessgreater "
    "islower islower_l isnan isnormal isprint ",
    " isprint_l ispunct ispunct_l isspace isspace_l isunordered isupper isupper_l iswalnum "
    "iswalnum_l iswalpha iswalpha_l iswblank iswblank_l ",
    " iswcntrl iswcntrl_l iswctype iswctype_l iswdigit iswdigit_l iswgraph iswgraph_l iswlower "
    "iswlower_l iswprint iswprint_l iswpunct ",
    " iswpunct_l iswspace iswspace_l iswupper iswupper_l iswxdigit iswxdigit_l isxdigit isxdigit_l "
    "j0 j0f j1 j1f jmp_buf jn jnf jrand48 kill ",
    " killpg l64a labs lchown lcong48 ldexp ldexpf ldexpl ldiv lfind lgamma lgammaf lgammal link "
    "linkat linux lio_listio listen llabs lldiv ",
    " llrint llrintf llrintl llround llroundf llroundl localeconv localtime localtime_r lockf log "
    "log10 log10f log10l log1p log1pf log1pl ",
    " log2 log2f log2l logb logbf logbl logf logl longjmp lrand48 lrint lrintf lrintl lround "
    "lroundf lroundl lsearch lseek lstat m main major ",
    " makedev malloc mblen mbrlen mbrtoc16 mbrtoc32 mbrtowc mbsinit mbsnrtowcs mbsrtowcs mbstowcs "
    "mbtowc memccpy memchr memcmp memcpy memmove ",
    " mempcpy memrchr memset minor mkdir mkdirat mkdtemp mkfifo mkfifoat mknod mknodat mkstemp "
    "mktime mlock mlockall mmap modf modff modfl ",
    " mprotect mq_close mq_getattr mq_notify mq_open mq_receive mq_send mq_setattr mq_timedreceive "
    "mq_timedsend mq_unlink mrand48 msgctl ",
    " msgget msgrcv msgsnd msync mtx_destroy mtx_init mtx_lock mtx_timedlock mtx_trylock "
    "mtx_unlock munlock munlockall munmap ",
};
static const char *const library_n_z[] = {
    " nan nanf nanl nanosleep nearbyint nearbyintf nearbyintl newlocale nextafter nextafterf "
    "nextafterl nexttoward nexttowardf nexttowardl ",
    " nftw nice nl_langinfo nl_langinfo_l nrand48 ntohl ntohs offsetof open open_memstream "
    "open_wmemstream openat opendir openlog optarg ",
    " opterr optind optopt package package_source pathconf pause pclose perror pipe pipe2 poll "
    "popen posix_fadvise posix_fallocate ",
    " posix_madvise posix_memalign posix_openpt posix_spawn posix_spawn_file_actions_addclose "
    "posix_spawn_file_actions_adddup2 ",
    " posix_spawn_file_actions_addopen posix_spawn_file_actions_destroy "
    "posix_spawn_file_actions_init posix_spawnattr_destroy ",
    " posix_spawnattr_getflags posix_spawnattr_getpgroup posix_spawnattr_getschedparam "
    "posix_spawnattr_getschedpolicy ",
    " posix_spawnattr_getsigdefault posix_spawnattr_getsigmask posix_spawnattr_init "
    "posix_spawnattr_setflags posix_spawnattr_setpgroup ",
    " posix_spawnattr_setschedparam posix_spawnattr_setschedpolicy posix_spawnattr_setsigdefault "
    "posix_spawnattr_setsigmask posix_spawnp pow ",
    " pow10 powf powl pread printf pselect psiginfo psignal pthread pthread_atfork "
    "pthread_attr_destroy pthread_attr_getdetachstate ",
    " pthread_attr_getguardsize pthread_attr_getinheritsched pthread_attr_getschedparam "
    "pthread_attr_getschedpolicy pthread_attr_getscope ",
    " pthread_attr_getstack pthread_attr_getstackaddr pthread_attr_getstacksize pthread_attr_init "
    "pthread_attr_setdetachstate ",
    " pthread_attr_setguardsize pthread_attr_setinheritsched pthread_attr_setschedparam "
    "pthread_attr_setschedpolicy pthread_attr_setscope ",
    " pthread_attr_setstack pthread_attr_setstackaddr pthread_attr_setstacksize "
    "pthread_barrier_destroy pthread_barrier_init ",
    " pthread_barrier_wait pthread_barrierattr_destroy pthread_barrierattr_getpshared "
    "pthread_barrierattr_init pthread_barrierattr_setpshared ",
    " pthread_cancel pthread_cond_broadcast pthread_cond_destroy pthread_cond_init "
    "pthread_cond_signal pthread_cond_timedwait ",
    " pthread_cond_wait pthread_condattr_destroy pthread_condattr_getclock "
    "pthread_condattr_getpshared pthread_condattr_init ",
    " pthread_condattr_setclock pthread_condattr_setpshared pthread_create pthread_detach "
    "pthread_equal pthread_exit pthread_getconcurrency ",
    " pthread_getcpuclockid pthread_getschedparam pthread_getspecific pthread_join "
    "pthread_key_create pthread_key_delete pthread_kill ",
    " pthread_mutex_consistent pthread_mutex_destroy pthread_mutex_getprioceiling "
    "pthread_mutex_init pthread_mutex_lock ",
    " pthread_mutex_setprioceiling pthread_mutex_timedlock pthread_mutex_trylock "
    "pthread_mutex_unlock pthread_mutexattr_destroy ",
    " pthread_mutexattr_getprioceiling pthread_mutexattr_getprotocol pthread_mutexattr_getpshared "
    "pthread_mutexattr_getrobust ",
    " pthread_mutexattr_gettype pthread_mutexattr_init pthread_mutexattr_setprioceiling "
    "pthread_mutexattr_setprotocol ",
    " pthread_mutexattr_setpshared pthread_mutexattr_setrobust pthread_mutexattr_settype "
    "pthread_once pthread_rwlock_destroy ",
    " pthread_rwlock_init pthread_rwlock_rdlock pthread_rwlock_timedrdlock "
    "pthread_rwlock_timedwrlock pthread_rwlock_tryrdlock ",
    " pthread_rwlock_trywrlock pthread_rwlock_unlock pthread_rwlock_wrlock "
    "pthread_rwlockattr_destroy pthread_rwlockattr_getkind_np ",
    " pthread_rwlockattr_getpshared pthread_rwlockattr_init pthread_rwlockattr_setkind_np "
    "pthread_rwlockattr_setpshared pthread_self ",
    " pthread_setcancelstate pthread_setcanceltype pthread_setconcurrency pthread_setschedparam "
    "pthread_setschedprio pthread_setspecific ",
    " pthread_sigmask pthread_spin_destroy pthread_spin_init pthread_spin_lock "
    "pthread_spin_trylock pthread_spin_unlock pthread_testcancel ",
    " ptsname putc putc_unlocked putchar putchar_unlocked putenv puts pututxline putwc putwchar "
    "pwrite qsort quick_exit raise rand rand_r ",
    " random read readdir readdir_r readlink readlinkat readv realloc reallocarray realpath "
    "rebuild_cache recv recvfrom recvmsg regcomp ",
    " regerror regexec regfree remainder remainderf remainderl remove remque remquo remquof "
    "remquol rename renameat rewind rewinddir rindex ",
    " rint rintf rintl rmdir round roundf roundl rt scalb scalbln scalblnf scalblnl scalbn scalbnf "
    "scalbnl scandir scanf ",
    " sched_get_priority_max sched_get_priority_min sched_getparam sched_getscheduler "
    "sched_rr_get_interval sched_setparam sched_setscheduler ",
    " sched_yield seed48 seekdir select sem_close sem_destroy sem_getvalue sem_init sem_open "
    "sem_post sem_timedwait sem_trywait sem_unlink ",
    " sem_wait semctl semget semop send sendmsg sendto setbuf setegid setenv seteuid setgid "
    "setgrent sethostent setitimer setjmp setlocale ",
    " setlogmask setnetent setpgid setpgrp setpriority setprotoent setpwent setregid setreuid "
    "setrlimit setservent setsid setsockopt setstate ",
    " setuid setutxent setvbuf shm_open shm_unlink shmat shmctl shmdt shmget shutdown sigaction "
    "sigaddset sigaltstack sigdelset sigemptyset ",
    " sigfillset sighold sigignore siginterrupt sigismember sigjmp_buf siglongjmp signal signbit "
    "signgam significand sigpause sigpending ",
    " sigprocmask sigqueue sigrelse sigset sigsetjmp sigsuspend sigtimedwait sigwait sigwaitinfo "
    "sin sincos sinf sinh sinhf sinhl sinl sleep ",
    " snprintf sockatmark socket socketpair sprintf sqrt sqrtf sqrtl srand srand48 srandom sscanf "
    "stat statvfs stderr stdin stdout stpcpy ",
    " stpncpy strcasecmp strcasecmp_l strcat strchr strcmp strcoll strcoll_l strcpy strcspn strdup "
    "strerror strerror_l strerror_r strfmon ",
    " strfmon_l strftime strftime_l strlen strncasecmp strncasecmp_l strncat strncmp strncpy "
    "strndup strnlen strpbrk strptime strrchr ",
    " strsignal strspn strstr strtod strtof strtoimax strtok strtok_r strtol strtold strtoll "
    "strtoul strtoull strtoumax strxfrm strxfrm_l ",
    " swab swprintf swscanf symlink symlinkat sync sysconf syslog system tan tanf tanh tanhf tanhl "
    "tanl tcdrain tcflow tcflush tcgetattr ",
    " tcgetpgrp tcgetsid tcsendbreak tcsetattr tcsetpgrp tdelete telldir tempnam test tfind tgamma "
    "tgammaf tgammal thrd_create thrd_current ",
    " thrd_detach thrd_equal thrd_exit thrd_join thrd_sleep thrd_yield time timer_create "
    "timer_delete timer_getoverrun timer_gettime ",
    " timer_settime times timespec_get timezone tmpfile tmpnam toascii tolower tolower_l toupper "
    "toupper_l towctrans towctrans_l towlower ",
    " towlower_l towupper towupper_l trunc truncate truncf truncl tsearch tss_create tss_delete "
    "tss_get tss_set ttyname ttyname_r twalk ",
    " tzname tzset u_char u_int u_long u_short uint ulimit ulong umask uname ungetc ungetwc unix "
    "unlink unlinkat unlockpt unsetenv uselocale ",
    " ushort util utime utimensat utimes va_arg va_copy va_end va_list va_start vasprintf vdprintf "
    "vfprintf vfscanf vfwprintf vfwscanf void ",
    " vprintf vscanf vsnprintf vsprintf vsscanf vswprintf vswscanf vwprintf vwscanf wait waitid "
    "waitpid wcpcpy wcpncpy wcrtomb wcscasecmp ",
    " wcscasecmp_l wcscat wcschr wcscmp wcscoll wcscoll_l wcscpy wcscspn wcsdup wcsftime wcslen "
    "wcsncasecmp wcsncasecmp_l wcsncat wcsncmp ",
    " wcsncpy wcsnlen wcsnrtombs wcspbrk wcsrchr wcsrtombs wcsspn wcsstr wcstod wcstof wcstoimax "
    "wcstok wcstol wcstold wcstoll wcstombs ",
    " wcstoul wcstoull wcstoumax wcswcs wcswidth wcsxfrm wcsxfrm_l wctob wctomb wctrans wctrans_l "
    "wctype wctype_l wcwidth wmemchr wmemcmp ",
    " wmemcpy wmemmove wmemset wordexp wordfree wprintf write writev wscanf y0 y0f y1 y1f yn ynf ",
};

static bool among(const char *s, const char *const *lines, size_t n) {
  char word[64];
  if ((size_t)snprintf(word, sizeof word, " %s ", s) >= sizeof word) return false;
  for (size_t i = 0; i < n; i++)
    if (strstr(lines[i], word)) return true;
  return false;
}

bool c_is_word(const char *s) { return among(s, words, sizeof words / sizeof *words); }
bool c_is_library(const char *s) {
  return among(s, library_a_m, sizeof library_a_m / sizeof *library_a_m) ||
         among(s, library_n_z, sizeof library_n_z / sizeof *library_n_z);
}
