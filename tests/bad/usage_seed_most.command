search
